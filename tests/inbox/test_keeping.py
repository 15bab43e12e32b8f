"""Who may deliver and read events, and how long they are kept."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from mailqueue.core.retained import RETAINED
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.maintenance.store.tasks import sweep_retained
from mailqueue.projects.producers import manage
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.conftest import Server
from tests.inbox import events
from tests.inbox.events import consume, rule
from tests.rules.logins import login

pytestmark = pytest.mark.anyio

[INBOX] = [one for one in RETAINED if one.kind == "inbox_state"]


async def test_an_event_is_kept_for_thirty_days_and_while_its_mail_is_queued(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project, delay_seconds=86_400)
    waiting = await consume(conn)
    await consume(conn, type_="Old")
    await consume(conn, type_="Young")
    await conn.execute(
        "UPDATE mailqueue.inbox_state SET received = now() - interval '31 d' WHERE type <> 'Young'"
    )

    gone = await sweep_retained(conn, INBOX)

    left = await make.rows(conn, "SELECT type FROM mailqueue.inbox_state ORDER BY id")
    assert (gone, [row[0] for row in left]) == (1, ["OrderPlaced", "Young"])
    await conn.execute(
        "SELECT mailqueue.cancel_emails(%s, %s::uuid[])", (project, waiting["email_ids"])
    )
    assert await sweep_retained(conn, INBOX) == 1
    assert await make.rows(conn, "SELECT 1 FROM mailqueue.inbox_actions") == []


@pytest.fixture
async def owner(database: DatabaseSettings) -> AsyncIterator[Conn]:
    async with connect(database) as opened:
        for name in ("shop", "news"):
            await rule(opened, await events.project_with_template(opened, name))
        yield opened


@pytest.fixture
async def program(owner: Conn, server: Server, fresh_db: str) -> AsyncIterator[Conn]:
    """A connection of a producer's own login."""
    async with login(
        server.superuser_url(urlsplit(fresh_db).path[1:]), "mailqueue_producer"
    ) as opened:
        yield opened


async def test_a_producer_delivers_events_of_its_projects_only(owner: Conn, program: Conn) -> None:
    name = await make.scalar(program, "SELECT session_user::text")
    await manage.bind(owner, name, ["shop"], by="ann")

    done = await consume(program, project="shop")
    as_text = await consume(program, "{}", project="shop")
    with pytest.raises(errors.InsufficientPrivilege) as info:
        await consume(program, project="news")

    assert (done["status"], as_text["status"]) == ("handled", "failed")
    assert info.value.diag.message_primary == (
        f"login {name} may not enqueue for project news, only for shop"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT payload FROM mailqueue.inbox_state",
        "SELECT * FROM mailqueue.event_rules",
        "SELECT mailqueue.put_event_rule(gen_random_uuid(), 'a', '{}', true)",
        "SELECT mailqueue.replay_inbox(gen_random_uuid(), NULL, 'a', NULL, NULL, NULL, NULL, 1,"
        " false)",
    ],
    ids=["inbox", "rules", "put", "replay"],
)
async def test_a_producer_reads_and_changes_nothing(program: Conn, statement: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        await program.execute(statement.encode())


async def test_a_tenant_reaches_no_event_and_no_rule_of_another(conn: Conn) -> None:
    shop = await events.project_with_template(conn, "shop")
    news = await events.project_with_template(conn, "news")
    await rule(conn, shop)
    message = uuid4()
    await consume(conn, message=message, project="shop")
    await conn.execute("SELECT set_config('mailqueue.project', %s, true)", [str(news)])
    await conn.execute("SET LOCAL ROLE mailqueue_api")

    for table in ("event_rules", "inbox_state", "inbox_actions"):
        assert await make.rows(conn, f"SELECT 1 FROM mailqueue.{table}") == []
    for statement, given in (
        ("SELECT mailqueue.put_event_rule(%s, 'placed', %s, false)", (shop, Jsonb({}))),
        ("SELECT mailqueue.remove_event_rule(%s, 'placed')", (shop,)),
        ("SELECT mailqueue.try_event_rule(%s, 'placed', %s)", (shop, Jsonb({}))),
        (
            "SELECT mailqueue.replay_inbox(%s, %s, NULL, NULL, NULL, NULL, NULL, 1, true)",
            (shop, [message]),
        ),
        (
            "SELECT mailqueue.consume(%s, %s, 'A', %s, project => 'shop')",
            (message, message, Jsonb({})),
        ),
    ):
        with pytest.raises(errors.InsufficientPrivilege):
            async with conn.transaction():
                await conn.execute(statement.encode(), given)


async def test_a_test_key_delivers_test_events_and_sees_no_live_ones(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await rule(conn, project)
    message = uuid4()
    live = await consume(conn, message=message)
    await conn.execute("SELECT set_config('mailqueue.project', %s, true)", [str(project)])
    await conn.execute("SELECT set_config('mailqueue.mode', 'test', true)")
    await conn.execute("SET LOCAL ROLE mailqueue_api")

    query = "SELECT mailqueue.consume(%s, %s, 'OrderPlaced', %s, is_test => true)"
    done = await make.scalar(conn, query, message, events.CONSUMER, Jsonb(events.ORDER))

    assert not done["is_duplicate"]
    assert done["email_ids"] != live["email_ids"]
    assert await make.rows(conn, "SELECT is_test FROM mailqueue.inbox_state") == [(True,)]
    with pytest.raises(errors.InsufficientPrivilege):
        async with conn.transaction():
            await consume(conn)
    await conn.execute("RESET ROLE")
    assert await make.rows(conn, "SELECT is_test FROM mailqueue.email_queue ORDER BY is_test") == [
        (False,),
        (True,),
    ]
