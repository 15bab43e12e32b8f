"""A pause of all sending: what workers hold is finished, and nothing more is claimed."""

import asyncio
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from psycopg.errors import InsufficientPrivilege

from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.mail.model import MarkVerdict
from mailqueue.operations import pausing, platform
from mailqueue.projects.actor import act_for
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, mark, opened, settle, until_waiting
from tests.operations.pausing import why

pytestmark = pytest.mark.anyio

HOUR = timedelta(hours=1)


async def pause(conn: Conn, *, until: datetime | timedelta | None = None) -> None:
    await platform.pause(conn, until=until, reason="an incident", by="ann")


async def tried(conn: Conn, act: Awaitable[object]) -> None:
    """Await in a transaction of its own, which an error undoes."""
    async with conn.transaction():
        await act


async def tried_for(conn: Conn, project: UUID, statement: str) -> None:
    async with conn.transaction():
        await act_for(conn, project, by="eve")
        await conn.execute(statement.encode())


async def test_no_worker_claims_while_all_sending_is_paused(conn: Conn) -> None:
    await make.sender_account(conn)
    worker, other = await make.worker(conn), await make.worker(conn)
    held = await make.queued_email(conn)
    assert [each.id for each in await claim(conn, worker)] == [held]

    await pause(conn)
    accepted = await make.queued_email(conn)

    for each in (worker, other, await make.worker(conn)):
        assert await claim(conn, each) == []
    assert await make.status_of(conn, accepted) == "pending"
    await platform.resume(conn, by="ann")
    assert [each.id for each in await claim(conn, worker)] == [accepted]


async def test_what_was_claimed_before_the_pause_is_sent(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    email = await make.queued_email(conn)
    [taken] = await claim(conn, worker)

    await pause(conn)

    assert (await mark(conn, worker, [taken]))[email].verdict is MarkVerdict.GO
    assert await settle(conn, [taken]) == []
    assert await make.status_of(conn, email) == "sent"


async def test_suspects_and_custom_servers_wait_too(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_email(conn)
    await conn.execute("UPDATE mailqueue.email_queue SET crashes = 1")
    await pause(conn)
    suspect = "SELECT id FROM mailqueue.claim_suspect(%s, interval '1 min')"

    assert await make.rows(conn, suspect, await make.worker(conn)) == []
    with pytest.raises(Exception, match="all sending is paused"):
        await tried(
            conn,
            make.rows(
                conn,
                "SELECT m.* FROM mailqueue.email_queue AS q,"
                " mailqueue.mark_custom_smtp(q, 'host', 1, 'test') AS m",
            ),
        )
    await platform.resume(conn, by="ann")
    assert len(await make.rows(conn, suspect, await make.worker(conn))) == 1


async def test_it_ends_by_itself(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await make.queued_email(conn)
    await pause(conn, until=HOUR)
    assert await claim(conn, worker) == []

    await conn.execute("UPDATE mailqueue.server_identity SET paused_until = clock_timestamp()")

    assert await platform.current_pause(conn) is None
    assert len(await claim(conn, worker)) == 1
    with pytest.raises(NotFound):
        await platform.resume(conn, by="ann")


async def test_everyone_is_told_who_paused_and_why(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.worker(conn)
    email = await make.queued_email(conn)
    await pause(conn, until=HOUR)

    found = await platform.current_pause(conn)
    assert found is not None
    assert found.actor is not None
    assert "(ann)" in found.actor
    assert found.reason == "an incident"
    said = await why(conn, email)
    assert said.startswith("all sending is paused since ")
    assert f"by {found.actor} until " in said
    assert said.endswith(": an incident; to resume it: mailqueue resume platform")
    [blocked] = await make.rows(conn, "SELECT reason, until FROM mailqueue.queue_blocked")
    assert blocked[0] in said
    assert blocked[1] == found.until
    assert found in await pausing.list_all(conn, project=None)
    [check] = await make.rows(
        conn, "SELECT state, found, fix FROM mailqueue.health WHERE name = 'paused'"
    )
    assert check[0] == "warning"
    assert "an incident" in check[1]
    assert "mailqueue resume platform" in check[2]


async def test_mail_that_waits_for_a_pause_raises_no_alarm(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.worker(conn)
    await make.queued_email(conn)
    await conn.execute("UPDATE mailqueue.email_queue SET run_at = now() - interval '3 h'")
    alarms = "SELECT array_agg(name) FROM mailqueue.health_of_mail() WHERE state = 'alarm'"
    assert "sending" in await make.scalar(conn, alarms)

    await pause(conn)

    assert "sending" not in (await make.scalar(conn, alarms) or [])


async def test_pauses_and_resumptions_are_audited(conn: Conn) -> None:
    await pause(conn)
    await platform.resume(conn, by="ben")
    audited = await make.rows(
        conn,
        "SELECT action, actor, detail ->> 'reason' FROM mailqueue.audit_events"
        " WHERE action LIKE 'platform.%%' ORDER BY id",
    )

    assert [(each[0], each[2]) for each in audited] == [
        ("platform.paused", "an incident"),
        ("platform.resumed", "an incident"),
    ]
    assert "(ann)" in audited[0][1]
    assert "(ben)" in audited[1][1]


@pytest.mark.parametrize(
    ("reason", "until", "field"),
    [
        (" ", None, "reason"),
        ("x" * 501, None, "reason"),
        ("late", datetime(2020, 1, 1, tzinfo=UTC), "until"),
    ],
    ids=["no-reason", "long-reason", "past"],
)
async def test_a_pause_that_is_invalid_is_refused(
    conn: Conn, reason: str, until: datetime | None, field: str
) -> None:
    with pytest.raises(InvalidField) as refused:
        await tried(conn, platform.pause(conn, until=until, reason=reason, by="ann"))

    assert refused.value.field == field
    assert await platform.current_pause(conn) is None


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT mailqueue.pause_platform(NULL, 'mine', 'eve')",
        "SELECT mailqueue.resume_platform('eve')",
        "SELECT mailqueue.count_waiting(NULL, 'platform', '')",
        "SELECT mailqueue.drain_workers(1, NULL, true, 'eve')",
    ],
    ids=["pause", "resume", "count", "drain"],
)
async def test_a_project_pauses_itself_at_most(conn: Conn, statement: str) -> None:
    project = await make.project(conn, "shop")
    with pytest.raises(InsufficientPrivilege):
        await tried_for(conn, project, statement)


async def test_a_worker_that_is_permitted_during_the_pause_claims_nothing(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 3) as (conn, pausing_conn, claiming):
        await make.sender_account(conn)
        await make.queued_email(conn)
        first, late = await make.worker(conn), await make.worker(conn)
        await claim(conn, first, limit=0)
        async with pausing_conn.transaction():
            await pause(pausing_conn)
            claims = asyncio.create_task(claim(claiming, late))
            await until_waiting(conn, claiming)
        assert await claims == []


async def test_the_number_of_emails_that_a_pause_stops_is_known_before(conn: Conn) -> None:
    project = await make.project(conn, "shop")
    await make.sender_account(conn, project_id=project, name="relay")
    await make.queued_emails(conn, 3, project_id=project, recipient_email="a@example.net")
    await make.queued_email(conn, project_id=project, campaign_id="spring")
    await make.queued_email(
        conn, project_id=project, cc=["bob@example.net"], recipient_email="a@example.org"
    )
    await make.sender_account(conn, name="other")
    await make.queued_email(conn, campaign_id="spring", recipient_email="a@example.net")

    async def count(kind: str, name: str = "", of: UUID | None = project) -> int:
        found = await platform.count_waiting(conn, of, kind=kind, name=name)
        assert not found.is_more
        return found.emails

    assert await count("platform", of=None) == 6
    assert await count("project") == 5
    assert await count("campaign", "spring") == 1
    assert await count("domain", "Example.NET") == 4
    assert await count("sender", "relay") == 5
    assert await count("sender", "other") == 0
    await make.sender_account(conn, project_id=project, name="spare")
    assert await count("sender", "relay") == 0
