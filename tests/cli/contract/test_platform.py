"""With `--json` a command prints the state of the installation as the HTTP API answers it."""

import base64
import json

from mailqueue.contract.admin import HealthCheck, PlatformHealth
from tests.cli.contract.comparing import PROJECT, answers, names_of, same
from tests.cli.support.invoked import Cli


def test_checks_are_printed_as_the_api_answers_them(cli: Cli) -> None:
    token = cli.json("admin", "create", "cal")["token"]

    printed = json.loads(cli("doctor", "--json").stdout)
    (health,) = answers(cli, ["/admin/health"], {"Authorization": f"Bearer {token}"})

    state_by_name = {one["name"]: one["state"] for one in printed["checks"]}
    assert set(printed) == names_of(PlatformHealth)
    assert all(set(one) == names_of(HealthCheck) for one in printed["checks"])
    assert {one["name"] for one in health["checks"]} <= set(state_by_name)
    assert set(health["checks"][0]) == names_of(HealthCheck)


def test_storage_is_printed_as_the_api_answers_it(cli: Cli) -> None:
    token = cli.json("admin", "create", "sue")["token"]
    names = ("partitions", "disk", "tasks")
    paths = [f"/admin/infrastructure/{name}" for name in names]
    partitions, disk, tasks = answers(cli, paths, {"Authorization": f"Bearer {token}"})

    assert [each["name"] for each in cli.json("platform", "partitions")] == [
        each["name"] for each in partitions["data"]
    ]
    assert set(cli.json("platform", "disk")) == set(disk)
    assert cli.json("platform", "tasks") == tasks["data"]
    for name, shown in zip(names, ("send_logs_", "table ", "vacuum"), strict=True):
        assert shown in cli("platform", name).stdout


def test_the_key_of_a_project_is_printed_as_the_api_answers_it(cli: Cli) -> None:
    key = cli.json("key", "create", "vault", *PROJECT)["key"]
    path = f"/v1/projects/{cli.json('project', 'show', 'shop')['id']}/byok"
    cli.environment["SHOP_KEY"] = base64.b64encode(bytes(32)).decode()

    for words in (
        ("set", "shop", "--key-env", "SHOP_KEY"),
        ("unlock", "shop", "--key-env", "SHOP_KEY", "--for", "8h"),
        ("lock", "shop"),
        ("release", "shop", "--key-env", "SHOP_KEY"),
    ):
        printed = cli.json("vault", "byok", *words)
        assert answers(cli, [path], {"X-API-Key": key}) == [printed], words


def test_keys_of_the_api_are_printed_as_it_answers_them(cli: Cli) -> None:
    made = cli.json("key", "create", "shown", "--expires", "90d", *PROJECT)
    path = f"/v1/projects/{cli.json('project', 'show', 'shop')['id']}/api-keys/{made['id']}"
    headers = {"X-API-Key": made["key"]}
    answers(cli, [path], headers)  # from now on it has been used

    same(cli, {("key", "show", "shown", *PROJECT): path}, headers)
