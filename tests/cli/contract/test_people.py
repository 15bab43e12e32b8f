"""With `--json` a command prints a person's data as the HTTP API answers it."""

import json

from mailqueue.contract.sending import Sent
from tests.cli.contract.comparing import PROJECT, answers, beside, names_of
from tests.cli.support.invoked import Cli


def test_a_person_is_exported_and_erased_as_the_api_answers_it(cli: Cli) -> None:
    key = cli.json("key", "create", "people", *PROJECT)["key"]
    path = "/v1/suppressions/dan@example.com"
    words = ("--to", "dan@example.com", "--subject", "Hi", "--text", "Hi")
    sent = cli.json("send", *words, *PROJECT)

    printed = cli("export-person", "dan@example.com", *PROJECT)
    person = json.loads(printed.stdout)
    (exported,) = answers(cli, [f"{path}/export"], {"X-API-Key": key})
    archives = {"archives": person["projects"][0]["archives"]}
    assert [beside(one, "project") for one in person["projects"]] == [exported | archives]
    assert person["email"] == exported["email"]
    assert set(sent) == {*names_of(Sent), "why"}
    assert (sent["status"], sent["reason"]) == ("queued", None)

    erased = cli.json("erase", "dan@example.com", "--yes", *PROJECT)
    (done,) = erased["projects"]
    by_hash = f"/v1/suppressions/{done['email_hash']}/erase"
    (state,) = answers(cli, [by_hash], {"X-API-Key": key})
    assert beside(done, "project", "waiting") == state
    assert state["state"] == "done"
