"""Projects: created, changed with an audit record, suspended, deleted, restored."""

import asyncio
from typing import Any

import pytest
from psycopg import errors

from mailqueue.audit import search as audit_search
from mailqueue.audit.model import AuditSearch
from mailqueue.core.errors import Conflict, InvalidField, MailqueueError, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.mail.accept.enqueue import NewEmail, enqueue_batch
from mailqueue.projects import manage as projects_manage
from mailqueue.settings.environment import DatabaseSettings
from tests import make

pytestmark = pytest.mark.anyio

SETTINGS: dict[str, Any] = {
    "display_name": "The Shop",
    "description": "Orders,\nand what follows",
    "from_email": "shop@example.com",
    "from_name": "Shop",
    "reply_to": "Help <help@example.com>",
    "bounce_address": "bounces@example.com",
    "allowed_from": ["example.com"],
    "attachment_types": ["application/pdf"],
    "attachment_bytes": 1000,
    "daily_limit": 500,
    "rate_per_second": 2.5,
    "burst": 10,
    "weight": 300,
    "time_zone": "Asia/Kolkata",
    "postal_address": "1 High Street\nOxford",
    "delivery": "hold",
    "requests_per_second": 50,
}


async def audit_of(conn: Conn, name: str) -> list[tuple[str, str]]:
    found = await projects_manage.find(conn, name)
    page = await audit_search.search(conn, AuditSearch(found.id), limit=100)
    return [(event.action, event.actor) for event in reversed(page.events)]


async def test_a_project_is_what_its_settings_say(conn: Conn) -> None:
    made = await projects_manage.add(conn, "shop", settings=SETTINGS, by="ann")

    assert {key: getattr(made, key) for key in SETTINGS} == SETTINGS
    limit = await make.rows(
        conn,
        "SELECT daily_limit, rate_per_second::float8, burst, time_zone FROM mailqueue.limits"
        " WHERE project_id = %s AND sender_account_id IS NULL",
        made.id,
    )
    assert limit == [(500, 2.5, 10, "Asia/Kolkata")]


async def test_null_takes_every_setting_back(conn: Conn) -> None:
    bare = await projects_manage.add(conn, "bare", by="ann")
    await projects_manage.add(conn, "shop", settings=SETTINGS, by="ann")

    back = await projects_manage.change(conn, "shop", changes=dict.fromkeys(SETTINGS), by="ann")

    assert {key: getattr(back, key) for key in SETTINGS} == {
        key: getattr(bare, key) for key in SETTINGS
    }


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("colour", "red"),
        ("daily_limit", -1),
        ("daily_limit", 2**31),
        ("daily_limit", 1.5),
        ("daily_limit", "5"),
        ("rate_per_second", 0),
        ("rate_per_second", 10_000_000),
        ("burst", 0),
        ("requests_per_second", 0),
        ("weight", 10_001),
        ("attachment_bytes", 2**40),
        ("time_zone", "Mars/Olympus"),
        ("time_zone", "+03"),
        ("time_zone", "EST5EDT4,M3.2.0"),
        ("time_zone", 7),
        ("delivery", "perhaps"),
        ("display_name", "x" * 201),
        ("display_name", "two\nlines"),
        ("postal_address", "x" * 501),
        ("description", "bell\a"),
        ("from_email", "nobody"),
        ("reply_to", "nobody"),
        ("allowed_from", "example.com"),
        ("allowed_from", ["@"]),
        ("attachment_types", [1]),
        ("attachment_types", ["nonsense"]),
    ],
)
async def test_what_a_project_cannot_be_is_refused_by_name(
    conn: Conn, setting: str, value: object
) -> None:
    with pytest.raises(InvalidField) as refused:
        async with conn.transaction():
            await projects_manage.change(conn, "default", changes={setting: value}, by="ann")

    assert refused.value.field == setting


async def test_every_change_names_who_made_it_and_what_was_before(conn: Conn) -> None:
    await projects_manage.add(conn, "shop", by="ann")
    await projects_manage.change(conn, "shop", changes={"daily_limit": 5}, by="ben")
    await projects_manage.change(
        conn, "shop", changes={"daily_limit": 5}, by="nobody, as it was so"
    )
    await projects_manage.suspend(conn, "shop", reason="unpaid", by="cem")
    await projects_manage.suspend(conn, "shop", reason="unpaid", by="nobody, as it was so")
    await projects_manage.activate(conn, "shop", by="dee")
    await projects_manage.delete(conn, "shop", by="eve")
    await projects_manage.activate(conn, "shop", by="fay")

    assert await audit_of(conn, "shop") == [
        ("project.added", "ann"),
        ("project.changed", "ben"),
        ("project.suspended", "cem"),
        ("project.activated", "dee"),
        ("project.deleted", "eve"),
        ("project.restored", "fay"),
    ]
    (changed,) = await make.rows(
        conn,
        "SELECT detail->'before'->>'daily_limit', detail->'after'->>'daily_limit'"
        " FROM mailqueue.audit_events WHERE action = 'project.changed'",
    )
    assert changed == (None, "5")


async def test_a_suspended_project_takes_mail_and_sends_none_until_it_is_active(conn: Conn) -> None:
    shop = await projects_manage.add(conn, "shop", by="ann")
    await make.sender_account(conn, project_id=shop.id)
    worker = await make.worker(conn)
    await projects_manage.suspend(conn, "shop", reason="unpaid since May", by="ann")

    mail = await make.queued_email(conn, project="shop")

    assert await make.claimed(conn, worker) == []
    assert "unpaid since May" in await make.scalar(conn, "SELECT mailqueue.why(%s)", mail)
    await projects_manage.activate(conn, "shop", by="ann")
    assert [found for found, _ in await make.claimed(conn, worker)] == [mail]


async def test_a_deleted_project_takes_and_sends_nothing_and_its_mail_waits(conn: Conn) -> None:
    shop = await projects_manage.add(conn, "shop", by="ann")
    await make.sender_account(conn, project_id=shop.id)
    worker = await make.worker(conn)
    mail = await make.queued_email(conn, project="shop")

    deleted = await projects_manage.delete(conn, "shop", by="ann")

    assert (deleted.status, deleted.deleted_at is not None) == ("deleted", True)
    assert await make.claimed(conn, worker) == []
    assert "it was deleted" in await make.scalar(conn, "SELECT mailqueue.why(%s)", mail)
    for by in ({"project": "shop"}, {"project_id": shop.id}):
        with pytest.raises(errors.InvalidParameterValue, match='"shop" is deleted'):
            async with conn.transaction():
                await make.queued_email(conn, **by)
    hello = NewEmail(recipient="ann@example.com", subject="Hello", text="Hello")
    with pytest.raises(MailqueueError, match="is deleted"):
        async with conn.transaction():
            await enqueue_batch(conn, [hello], project="shop")
    await projects_manage.activate(conn, "shop", by="ann")
    assert [found for found, _ in await make.claimed(conn, worker)] == [mail]


async def test_deleting_revokes_the_keys_for_good(conn: Conn) -> None:
    shop = await projects_manage.add(conn, "shop", by="ann")
    columns = {"project_id": shop.id, "hint": "mq_live_", "is_test": False}
    await make.inserted(conn, "api_keys", {**columns, "name": "web", "key_hash": b"one"})

    await projects_manage.delete(conn, "shop", by="ann")
    with pytest.raises(errors.InvalidParameterValue, match="is deleted"):
        async with conn.transaction():
            await make.inserted(conn, "api_keys", {**columns, "name": "new", "key_hash": b"two"})
    await projects_manage.activate(conn, "shop", by="ann")

    in_force = "SELECT count(*) FROM mailqueue.api_keys WHERE revoked_at IS NULL"
    assert await make.scalar(conn, in_force) == 0


@pytest.mark.deep
async def test_a_key_made_while_its_project_is_deleted_is_not_in_force(
    database: DatabaseSettings,
) -> None:
    """The second transaction waits, and is refused or revokes the key."""
    async with connect(database) as one, connect(database) as other:
        shop = await projects_manage.add(one, "shop", by="ann")
        key = {"project_id": shop.id, "name": "web", "key_hash": b"x", "hint": "x", "is_test": True}
        async with one.transaction():
            await projects_manage.delete(one, "shop", by="ann")
            inserting = asyncio.create_task(make.inserted(other, "api_keys", key))
            waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            async with connect(database) as third:
                for _ in range(3_000):
                    if await make.scalar(third, waits):
                        break
                    await asyncio.sleep(0.01)
        with pytest.raises(errors.InvalidParameterValue, match="is deleted"):
            await inserting


async def test_the_name_of_a_deleted_project_stays_taken(conn: Conn) -> None:
    await projects_manage.add(conn, "shop", by="ann")
    await projects_manage.delete(conn, "shop", by="ann")

    with pytest.raises(Conflict, match="there is a project shop already, deleted at"):
        await projects_manage.add(conn, "shop", by="ann")
    with pytest.raises(Conflict, match="project shop is deleted"):
        await projects_manage.suspend(conn, "shop", reason="why not", by="ann")
    with pytest.raises(Conflict, match="default cannot be deleted"):
        async with conn.transaction():
            await projects_manage.delete(conn, "default", by="ann")
    with pytest.raises(NotFound):
        await projects_manage.delete(conn, "away", by="ann")


async def test_a_name_that_reads_as_an_id_is_refused(conn: Conn) -> None:
    with pytest.raises(InvalidField, match="has the form of an id"):
        await projects_manage.add(conn, "019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11", by="ann")


async def test_projects_are_listed_by_page_status_and_words(conn: Conn) -> None:
    for name in ("ape", "bee", "cat"):
        await projects_manage.add(
            conn, name, settings={"description": f"The {name.upper()}"}, by="ann"
        )
    await projects_manage.suspend(conn, "bee", reason="unpaid", by="ann")
    await projects_manage.delete(conn, "cat", by="ann")

    async def names(**given: Any) -> list[str]:
        found = await projects_manage.list_page(conn, **{"limit": 100} | given)
        return [each.name for each in found]

    assert await names() == ["ape", "bee", "default"]
    assert await names(limit=1, after="ape") == ["bee"]
    assert await names(status="suspended") == ["bee"]
    assert await names(status="deleted") == ["cat"]
    assert await names(text="the APE") == ["ape"]
    assert await names(text="%") == []
    with pytest.raises(InvalidField, match="status"):
        await names(status="gone")


async def test_mail_that_names_no_delivery_has_its_projects(conn: Conn) -> None:
    shop = await projects_manage.add(conn, "shop", settings={"delivery": "hold"}, by="ann")
    await make.sender_account(conn, project_id=shop.id)
    one = await make.queued_email(conn, project="shop")
    other = await make.queued_email(conn, project="shop", delivery="resend")
    hello = NewEmail(recipient="ann@example.com", subject="Hello", text="Hello")
    row, said = await enqueue_batch(
        conn,
        [hello, NewEmail("b@example.com", "Hello", text="b", options={"delivery": "resend"})],
        project="shop",
    )

    query = "SELECT delivery FROM mailqueue.email_queue WHERE id = %s"
    ids = (one, other, row.id, said.id)
    assert [await make.scalar(conn, query, each) for each in ids] == [
        *("hold", "resend", "hold", "resend")
    ]


async def test_the_mail_of_a_deleted_project_raises_no_alarm_and_the_books_add_up(
    conn: Conn,
) -> None:
    """Its mail waits forever: health would warn of it forever."""
    shop = await projects_manage.add(conn, "shop", by="ann")
    await make.sender_account(conn, project_id=shop.id)
    long_ago = "UPDATE mailqueue.email_queue SET run_at = now() - interval '3 d' WHERE id = %s"
    await conn.execute(long_ago, (await make.queued_email(conn, project="shop"),))
    await make.worker(conn)
    health = "SELECT name FROM mailqueue.health WHERE state <> 'ok' AND (name ~ 'mail' OR name IN"
    health += " ('movement', 'sending', 'sender accounts', 'stopped accounts'))"
    assert await make.rows(conn, health) != []

    await projects_manage.delete(conn, "shop", by="ann")

    assert await make.rows(conn, health) == []
    assert await make.rows(conn, "SELECT difference::int FROM mailqueue.books") == [(0,)]
