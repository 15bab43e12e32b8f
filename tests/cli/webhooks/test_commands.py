"""`mailqueue webhook`: every operation on an endpoint."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.webhooks.model import EventType
from tests import make
from tests.api.support.wired import MASTER
from tests.cli.support.invoked import Cli
from tests.webhooks.delivering import told

URL = "https://app.example.com/hooks"


@pytest.fixture(scope="module")
def cli(module_db: str, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    folder: Path = tmp_path_factory.mktemp("data")
    made = Cli(module_db, folder)
    made.environment |= {"MAILQUEUE_MASTER_KEY": MASTER}
    return made


@pytest.fixture
def hook(cli: Cli) -> dict[str, Any]:
    made = cli.json("webhook", "add", URL)
    return {**made["webhook"], "secret": made["secret"]}


def test_an_endpoint_is_added_listed_shown_and_removed(cli: Cli) -> None:
    made = cli.json(
        "webhook", "add", URL, "--event", "email.sent", "--event", "email.failed",
        "--description", "orders",
    )  # fmt: skip

    new, secret = made["webhook"], made["secret"]
    assert secret.startswith("whsec_")
    assert new["event_types"] == ["email.failed", "email.sent"]
    shown = cli.json("webhook", "show", new["id"])
    assert shown == new
    assert shown in cli.json("webhook", "list", "--project", "default")["data"]
    assert {"project": "default", **shown} in cli.json("webhook", "list")["data"]
    assert cli.json("webhook", "list", "--limit", "1")["next_cursor"] is None
    assert secret not in cli("webhook", "list").output
    assert cli("webhook", "remove", new["id"], "--yes").exit_code == 0
    assert cli("webhook", "show", new["id"]).exit_code == 1


def test_the_secret_is_shown_with_a_warning(cli: Cli) -> None:
    result = cli("webhook", "add", URL)

    assert "whsec_" in result.stdout
    assert "not shown again" in result.stderr


def test_a_format_of_a_provider_is_chosen(cli: Cli) -> None:
    place = "https://hooks:s3cret@app.example.com/hooks"

    by_login = cli("webhook", "add", place, "--format", "postmark").stdout
    by_key = cli("webhook", "add", URL, "--format", "sendgrid")

    assert "hooks:s3cret" in by_login
    assert "https://app.example.com/hooks" in by_login
    assert "public key" in by_key.stdout
    assert "private key is never shown" in by_key.stderr
    assert "postmark" in cli("webhook", "list").stdout
    assert cli("webhook", "add", URL, "--format", "sparkpost").exit_code == 2


def test_an_endpoint_is_changed_disabled_and_enabled(cli: Cli, hook: dict[str, Any]) -> None:
    words = ("webhook", "change", hook["id"])

    cli.json(*words, "--url", "https://b.example.com/", "--event", "email.sent")
    off = cli.json(*words, "--disable", "--description", "b")
    on = cli.json(*words, "--enable", "--all-events", "--description", "")

    assert (off["url"], off["event_types"]) == ("https://b.example.com/", ["email.sent"])
    assert (off["is_enabled"], off["circuit"], off["description"]) == (False, "disabled", "b")
    assert (on["is_enabled"], on["event_types"], on["description"]) == (True, [], None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "ftp://example.com/"), "error: url: must begin with https://"),
        (("add", URL, "--event", "email.bounced"), "error: event_types: there is no type"),
        (("add", URL, "--project", "nobody"), "error: no project nobody"),
        (("show", str(uuid4())), "error: no webhook"),
        (("retry", str(uuid4())), "error: no webhook"),
        (("deliveries", str(uuid4())), "error: no webhook"),
        (("rotate", str(uuid4()), "--overlap", "soon"), "error: "),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(cli: Cli, words: tuple[str, ...], said: str) -> None:
    result = cli("webhook", *words)

    assert result.exit_code == 1
    assert result.stderr.startswith(said)


def test_a_secret_is_replaced(cli: Cli, hook: dict[str, Any]) -> None:
    new = cli.json("webhook", "rotate", hook["id"], "--overlap", "7d")
    alone = cli.json("webhook", "rotate", hook["id"], "--overlap", "0s")

    assert len({hook["secret"], new["secret"], alone["secret"]}) == 3
    assert new["webhook"]["previous_secret_until"] is not None
    assert alone["webhook"]["previous_secret_until"] is None


def test_a_test_of_an_unreachable_endpoint_says_so(cli: Cli) -> None:
    refused = cli("webhook", "add", "https://[::1]:8443/")
    assert (refused.exit_code, "::1 is not a public address" in refused.output) == (1, True)
    found = cli.json("webhook", "add", URL)["webhook"]
    private = "UPDATE mailqueue.webhooks SET url = 'https://[::1]:8443/' RETURNING 1"
    cli.sql(lambda conn: make.rows(conn, private))

    done = cli.json("webhook", "test", found["id"], exit_code=1)

    assert (done["success"], done["response_status"]) == (False, None)
    assert done["error"] == "::1 is not a public address"
    (row,) = cli.json("webhook", "deliveries", found["id"])["data"]
    assert (row["status"], row["type"]) == ("failed", "webhook.test")
    log = cli.json("webhook", "delivery", found["id"], row["id"])
    assert log["payload"]["data"]["is_test"] is True
    assert len(log["attempts"]) == 1
    text = cli("webhook", "delivery", found["id"], row["id"]).output
    assert "is not a public address" in text


def test_what_was_not_taken_is_told_again(cli: Cli) -> None:
    found = cli.json("webhook", "add", URL, "--event", "email.opened")["webhook"]
    cli.sql(lambda conn: told(conn, 3, kind="opened"))
    cli.sql(
        lambda conn: make.rows(
            conn,
            "UPDATE mailqueue.webhook_deliveries SET status = 'failed', finished_at = now()"
            " WHERE webhook_id = %s RETURNING id",
            found["id"],
        )
    )
    assert len(cli.json("webhook", "deliveries", found["id"], "--status", "failed")["data"]) == 3
    page = cli.json("webhook", "deliveries", found["id"], "--limit", "1")
    assert page["next_cursor"] is not None
    one = page["data"][0]["id"]

    assert cli.json("webhook", "retry", found["id"], "--delivery", one) == {"retried": 1}
    again = cli("webhook", "retry", found["id"], "--delivery", one)
    assert again.stderr.startswith("error: the delivery is pending")
    assert cli.json("webhook", "retry", found["id"], "--since", "1h") == {"retried": 2}
    assert cli.json("webhook", "retry", found["id"], "--until", "1h") == {"retried": 0}


def test_types_are_listed(cli: Cli) -> None:
    assert "email.hard_bounce" in cli("webhook", "types").output
    assert len(cli.json("webhook", "types")["data"]) == len(EventType)


def test_without_a_master_key_no_secret_is_kept(cli: Cli) -> None:
    result = cli("webhook", "add", URL, env={"MAILQUEUE_MASTER_KEY": None})

    assert result.exit_code == 1
    assert "MAILQUEUE_MASTER_KEY" in result.stderr


def test_an_endpoint_that_keeps_failing_is_listed_with_its_key(
    cli: Cli, hook: dict[str, Any]
) -> None:
    async def fail(conn: Conn) -> None:
        await conn.execute(
            "SELECT mailqueue.note_key('webhooks', %s, false, 5, NULL, 'answered 500')",
            (hook["id"],),
        )

    assert cli("queue", "keys").stdout.strip() == "no key is in trouble"
    cli.sql(fail)
    [one] = cli.json("queue", "keys")
    assert (one["key"], one["subject"], one["circuit"]) == (hook["id"], URL, "open")
    assert "answered 500" in cli("queue", "keys").stdout
    assert cli.json("webhook", "show", hook["id"])["circuit"] == "open"
    cli("webhook", "change", hook["id"], "--disable")
    cli("webhook", "change", hook["id"], "--enable")
    assert cli.json("queue", "keys") == []
