"""The From addresses that a project allows, and the default for mail without one."""

from email import message_from_bytes
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from mailqueue.core.address import Mailbox, parse_address, parse_mailbox
from mailqueue.db.fetch import Conn
from mailqueue.mail.message.build import SkeletonCache, build_message
from mailqueue.ports.transport import SendAttempt
from mailqueue.senders.identity import get, mail_defaults_of
from mailqueue.senders.model import MailDefaults
from tests import make
from tests.mail.accept.intakes import WAYS, NotAccepted, Way, plain
from tests.mail.claims import NOW, SENDER, loaded

pytestmark = pytest.mark.anyio
ALLOWED = ["shop@example.com", "example.org", "*.example.net"]


async def change(conn: Conn, **changes: Any) -> dict[str, Any]:
    query = "SELECT mailqueue.change_project('default', %s, 'ann@desk')"
    found: dict[str, Any] = await make.scalar(conn, query, Jsonb(changes))
    return found


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
async def test_a_from_address_that_is_not_allowed_is_refused_by_every_interface(
    conn: Conn, way: Way
) -> None:
    await change(conn, allowed_from=ALLOWED)

    for good in ("Shop@Example.com", "any@example.org", "x@mail.example.net", "x@a.b.example.net"):
        await way(conn, **plain(from_email=good))
    await way(conn, **plain())
    for bad in ("other@example.com", "x@sub.example.org", "x@example.net", "x@badexample.net"):
        with pytest.raises(
            NotAccepted, match="is not allowed in this project, which sends from"
        ) as no:
            await way(conn, **plain(from_email=bad))
        assert no.value.field == "from_email"
        assert "shop@example.com, example.org, *.example.net" in no.value.message


async def test_the_policy_of_one_project_is_no_others(conn: Conn) -> None:
    await make.project(conn, "other")
    await change(conn, allowed_from=["example.org"])

    await WAYS["enqueue"](conn, **plain(project="other", from_email="any@example.com"))


def letter(identity: MailDefaults, **says: Any) -> SendAttempt:
    return build_message(loaded(**says), SkeletonCache(), identity=identity, now=NOW)


def test_a_project_says_where_answers_and_bounces_go_unless_the_mail_does() -> None:
    bounces = parse_address("bounces@example.com")
    identity = MailDefaults(SENDER, parse_mailbox("Desk <desk@example.com>"), bounces)

    usual = letter(identity)
    assert usual.envelope.sender == "bounces@example.com"
    message = message_from_bytes(usual.message)
    assert message["Reply-To"] == "Desk <desk@example.com>"
    assert message["From"] == "Shop <shop@example.com>"

    own = message_from_bytes(letter(identity, reply_to="me@example.com").message)
    assert own["Reply-To"] == "me@example.com"
    plain_one = letter(MailDefaults(SENDER))
    assert plain_one.envelope.sender == "shop@example.com"
    assert message_from_bytes(plain_one.message)["Reply-To"] is None


async def test_workers_learn_what_a_project_says_of_its_senders(conn: Conn) -> None:
    account = await make.sender_account(conn, email=None)
    before = (await get(conn, account)).revision

    changes = {"from_email": "shop@example.com", "from_name": "Shop", "reply_to": "d@example.com"}
    await change(conn, **changes, bounce_address="b@example.com")

    found = await get(conn, account)
    assert found.revision > before
    shop = Mailbox("Shop", parse_address("shop@example.com"))
    desk, bounces = parse_mailbox("d@example.com"), parse_address("b@example.com")
    assert await mail_defaults_of(conn, found) == MailDefaults(shop, desk, bounces)


async def test_mail_the_trap_catches_is_from_whom_its_project_says(conn: Conn) -> None:
    trap = await make.sender_account(conn, provider="trap", email="no-reply@mailqueue.example")
    nobody = await mail_defaults_of(conn, await get(conn, trap))

    await change(conn, from_email="shop@example.com", from_name="Shop")

    assert nobody.sender.address.sent == "no-reply@mailqueue.example"
    shop = Mailbox("Shop", parse_address("shop@example.com"))
    assert (await mail_defaults_of(conn, await get(conn, trap))).sender == shop


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"from_email": "nobody"}, 'from_email: "nobody" is not an address'),
        ({"reply_to": "nobody"}, 'reply_to: "nobody" is not an address'),
        ({"bounce_address": 7}, "bounce_address: a string is needed, got number"),
        ({"from_name": "a\nb"}, "from_name: control characters"),
        ({"allowed_from": "example.com"}, "allowed_from: a list of strings is needed"),
        ({"allowed_from": ["*"]}, 'allowed_from: "\\*" is not an address, a domain'),
        ({"allowed_from": ["a@b"]}, 'allowed_from: "a@b" is not an address, a domain'),
        ({"attachment_bytes": "many"}, "attachment_bytes: 0 to 26214400 is needed"),
        ({"attachment_bytes": 26214401}, "attachment_bytes: 0 to 26214400 is needed"),
        ({"colour": "red"}, "colour: there is no such setting"),
    ],
)
async def test_a_setting_that_cannot_be_is_refused(
    conn: Conn, changes: dict[str, Any], why: str
) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=why):
        await change(conn, **changes)


async def test_a_change_is_audited_with_what_held_before_and_null_takes_it_back(conn: Conn) -> None:
    await change(conn, reply_to="d@example.com")
    await change(conn, reply_to="d@example.com")  # nothing new
    assert (await change(conn, reply_to=None))["reply_to"] is None

    query = """SELECT actor, detail -> 'before' ->> 'reply_to', detail -> 'after' ->> 'reply_to'
        FROM mailqueue.audit_events WHERE action = 'project.changed' ORDER BY id"""
    assert await make.rows(conn, query) == [
        ("ann@desk", None, "d@example.com"),
        ("ann@desk", "d@example.com", None),
    ]
