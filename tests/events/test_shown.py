"""Events are shown by pages of the API and by tables of the command line."""

import json
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.events.model import Type
from mailqueue.inbound.model import NewRequest
from mailqueue.inbound.store import keep
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.calling import calling
from tests.cli.support.invoked import Cli
from tests.events.sent_mail import NOON, event, left, told

ANN = "Ann@example.com"


@pytest.fixture(scope="module")
def cli(module_db: str, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    return Cli(module_db, tmp_path_factory.mktemp("data"))


async def journey(conn: Conn) -> UUID:
    """Create a mail that was delivered, opened and complained about."""
    mail = await left(conn, recipient_email=ANN)
    stages = (Type.DELIVERED, Type.OPENED, Type.CLICKED, Type.COMPLAINT)
    for minute, kind in enumerate(stages):
        data = {"url": "https://example.com/offer"} if kind is Type.CLICKED else {}
        at = NOON + timedelta(minutes=minute)
        await told(conn, event(kind, email_id=mail, occurred_at=at, data=data))
    return mail


@pytest.mark.anyio
async def test_the_api_shows_events_of_a_mail_and_of_an_address_by_pages(fresh_db: str) -> None:
    database = DatabaseSettings(Secret(fresh_db))
    async with calling(database) as api, connect(database) as conn:
        mail = await journey(conn)
        other = await make.project(conn)
        theirs = await left(conn, recipient_email=ANN, project_id=other)
        await told(conn, event(Type.DELIVERED, email_id=theirs))

        seen, cursor = list[str](), ""
        while True:
            page = (await api.get(f"/v1/emails/{mail}/events?limit=3{cursor}")).json()
            seen += [one["type"] for one in page["data"]]
            if page["next_cursor"] is None:
                break
            cursor = f"&cursor={page['next_cursor']}"
        assert sorted(seen) == sorted(
            ["queued", "sent", "delivered", "opened", "clicked", "complaint"]
        )
        assert seen[0] == "queued"

        shown = (await api.get(f"/v1/emails/{mail}")).json()
        clicks = [one["detail"] for one in shown["timeline"] if one["what"] == "clicked"]
        assert clicks == ["https://example.com/offer"]
        assert "complained about at" in shown["why"]

        seen, cursor = [], ""
        while True:
            answer = await api.get(f"/v1/recipients/ANN%40example.com/events?limit=4{cursor}")
            page = answer.json()
            seen += [one["type"] for one in page["data"]]
            assert {one["email_id"] for one in page["data"]} == {str(mail)}
            if page["next_cursor"] is None:
                break
            cursor = f"&cursor={page['next_cursor']}"
        assert sorted(seen) == sorted(
            ["sent", "complaint", "clicked", "opened", "delivered", "accepted"]
        )
        assert (await api.get("/v1/recipients/nobody%40example.com/events")).json()["data"] == []
        assert (await api.get("/v1/recipients/nobody/events")).status_code == 422
        assert (await api.get(f"/v1/emails/{theirs}/events")).status_code == 404


def test_the_command_line_lists_and_shows_them(cli: Cli, tmp_path: Path) -> None:
    mail = cli.sql(journey)

    listed = cli.json("event", "list", "--email", str(mail))["data"]
    assert [one["type"] for one in listed] == ["complaint", "clicked", "opened", "delivered"]
    assert cli.json("event", "list", "--type", "clicked")["data"][0]["data"]["url"].startswith(
        "https"
    )
    shown = cli.json("event", "show", listed[0]["id"])
    assert shown["suppresses"] == "complaint"
    printed = cli("event", "show", listed[1]["id"])
    assert "https://example.com/offer" in printed.output
    assert len(cli.json("event", "list", "--address", ANN)["data"]) == 6
    assert "complaint" in cli("event", "list", "--address", ANN.lower()).output
    assert cli("event", "show", str(mail)).exit_code != 0
    explained = cli.json("email", "show", str(mail))["events"]
    assert [one["type"] for one in explained] == ["delivered", "opened", "clicked", "complaint"]
    assert explained[2]["data"]["url"] == "https://example.com/offer"
    assert "https://example.com/offer" in cli("email", "show", str(mail)).stdout
    assert cli("event", "list", "--address", ANN, "--type", "opened").exit_code != 0
    assert cli("event", "list", "--address", ANN, "--project", "none").exit_code != 0


def test_notices_are_listed_until_they_are_seen(cli: Cli) -> None:
    mail = cli.sql(journey)
    found = cli.json("event", "notices", "--seen")
    assert str(mail) in [one["email_id"] for one in found]
    assert cli.json("event", "notices") == []
    assert all(one["seen_by"] for one in cli.json("event", "notices", "--all"))
    assert cli("event", "notices", "--project", "none").exit_code != 0


def test_what_providers_told_is_listed_and_printed_as_it_came(cli: Cli) -> None:
    async def kept(conn: Conn) -> None:
        await keep(conn, [NewRequest("ses", b'{"a": "\xff\x00"}')])

    cli.sql(kept)
    [one] = cli.json("event", "received", "--provider", "ses", "--status", "pending")
    assert one["bytes"] == 11
    assert "ses" in cli("event", "received").output
    assert cli("event", "raw", one["id"]).stdout_bytes == b'{"a": "\xff\x00"}'
    assert cli.json("event", "retry", one["id"]) == {"retried": 0}
    assert cli("event", "raw", "01a1fa63-f231-72bd-9015-82ebfa2ea787").exit_code != 0
    cli.sql(
        lambda conn: conn.execute(
            'UPDATE mailqueue.inbound_events SET outcome = \'{"unknown": ["Novel"]}\''
        )
    )
    assert "unknown: Novel" in cli("event", "received").output
    assert json.loads(cli("event", "list", "--json").stdout) is not None
