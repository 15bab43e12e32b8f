"""With `--json` a command prints an email as the HTTP API answers it."""

from datetime import timedelta
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.events.model import Type
from tests import make
from tests.cli.contract.comparing import PROJECT, answers, beside, same
from tests.cli.support.invoked import Cli
from tests.events.sent_mail import NOON, event, told


async def sent_mail(conn: Conn) -> UUID:
    """Make a mail of project shop that was sent, delivered and clicked."""
    mail = await make.queued_email(
        conn, project="shop", recipient_email="cal@example.com", recipient_name="Cal"
    )
    [(_, claim_no)] = await make.claimed(conn, await make.worker(conn))
    await conn.execute(
        "SELECT mailqueue.settle_emails(%s, %s, '{sent}', '{250 ok}', '{NULL}', '{1}', '{1}',"
        " '{sent}', '{<1@example.com>}', '{NULL}', '{250}', '{NULL}', '{250 ok}', '{7}', '{f}')",
        ([mail], [claim_no]),
    )
    click = {"url": "https://example.com/offer"}
    for minute, (kind, data) in enumerate([(Type.DELIVERED, {}), (Type.CLICKED, click)]):
        at = NOON + timedelta(minutes=minute)
        await told(conn, event(kind, email_id=mail, occurred_at=at, data=data))
    return mail


def test_an_email_and_its_events_are_printed_as_the_api_answers_them(cli: Cli) -> None:
    key = cli.json("key", "create", "reader", *PROJECT)["key"]
    mail = str(cli.sql(sent_mail))
    path = f"/v1/emails/{mail}"
    headers = {"X-API-Key": key}

    whole, events = answers(cli, [path, f"{path}/events"], headers)
    same(
        cli,
        {
            ("event", "list", "--address", "cal@example.com", *PROJECT): (
                "/v1/recipients/cal@example.com/events"
            ),
            ("email", "list", "--to", "cal@example.com", "--sender", "relay", *PROJECT): (
                "/v1/emails?to=cal@example.com&sender=relay"
            ),
        },
        headers,
    )
    for words in (("email", "show"), ("why",)):
        printed = beside(cli.json(*words, mail), "project")
        printed["attempts"] = [beside(one, "worker_id") for one in printed["attempts"]]
        assert printed == whole
    assert [one["sender"] for one in whole["attempts"]] == ["relay"]

    listed = cli.json("event", "list", "--email", mail)
    more = ("project", "email_id", "sender", "suppresses")
    recorded = [one for one in events["data"] if one["type"] not in ("queued", "sent")]
    assert len(events["data"]) == len(recorded) + 2
    assert [beside(one, *more) for one in reversed(listed["data"])] == recorded
    assert [one["type"] for one in recorded] == ["delivered", "clicked"]
    assert listed["next_cursor"] is events["next_cursor"] is None
    shown = cli.json("event", "show", recorded[0]["id"])
    assert beside(shown, *more) == recorded[0]
    page = cli.json("event", "list", "--email", mail, "--limit", "1")
    assert page["next_cursor"] is not None
