"""Limits of marketing hold for all of a person's mail together, whatever made it."""

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from mailqueue.analytics.ab_tests import requests
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics.ab_tests import steps as ab_tests
from tests.api.support.calling import Calling, calling
from tests.contacts import people
from tests.mail.limits.held_back.marketing import (
    around_now,
    change,
    handled,
    later,
    now,
    waits,
)
from tests.schedules import turning
from tests.sequences import running

pytestmark = pytest.mark.anyio
ANN = "ann@example.com"
NOON = datetime.now(UTC).replace(microsecond=0)
WORDS = {"subject": "Hello", "text_body": "Hello Ann"}


async def _enqueued(conn: Conn, api: Calling) -> None:
    await make.scalar(
        conn,
        "SELECT mailqueue.enqueue(recipient => %s, subject => 'Hello', text => 'Hello Ann',"
        " options => %s)",
        ANN,
        Jsonb({"category": "marketing"}),
    )


async def _inserted(conn: Conn, api: Calling) -> None:
    await make.queued_email(conn, recipient_email=ANN, category="marketing")


async def _of_a_schedule(conn: Conn, api: Calling) -> None:
    payload = {"to": [ANN], "category": "marketing"} | WORDS
    at = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    made = await turning.put(conn, schedule_type="once", run_at=at, payload=payload)
    await turning.due(conn, made)
    await turning.turn(conn)


async def _of_a_list(conn: Conn, api: Calling) -> None:
    payload = {"to": ["news"], "category": "marketing"} | WORDS
    at = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    made = await turning.put(conn, schedule_type="once", run_at=at, payload=payload)
    await turning.due(conn, made)
    await turning.turn(conn)
    await turning.make_runs(conn)


async def _of_a_sequence(conn: Conn, api: Calling) -> None:
    project = await make.project_named(conn)
    ann = await make.scalar(conn, "SELECT id FROM mailqueue.contacts WHERE email = %s", ANN)
    await running.enroll(conn, project, ann, at=NOON)
    await running.turn(conn, NOON)


async def _of_an_ab_test(conn: Conn, api: Calling) -> None:
    test = await ab_tests.created(conn, options={"category": "marketing"})
    await requests.add(conn, "default", test.id, [{"recipient": ANN}])


async def _over_http(conn: Conn, api: Calling) -> None:
    answer = await api.send({"to": [ANN], "category": "marketing"} | WORDS)
    assert answer.status_code == 202, answer.text


async def _of_a_compatible_api(conn: Conn, api: Calling) -> None:
    mail = {"From": "shop@example.com", "To": ANN, "Subject": "Hello", "TextBody": "Hello Ann"}
    answer = await api.http.post(
        "/email",
        json=mail | {"MessageStream": "broadcast"},
        headers={"X-Postmark-Server-Token": api.key},
    )
    assert answer.status_code == 200, answer.text


SOURCES: Mapping[str, Callable[[Conn, Calling], Awaitable[None]]] = {
    "enqueue": _enqueued,
    "INSERT": _inserted,
    "POST /v1/send": _over_http,
    "schedule": _of_a_schedule,
    "list": _of_a_list,
    "sequence": _of_a_sequence,
    "A/B test": _of_an_ab_test,
    "compatible API": _of_a_compatible_api,
}


async def _made(conn: Conn, api: Calling, name: str) -> UUID:
    """Make one mail to Ann by a source; return its id."""
    query = "SELECT id FROM mailqueue.email_queue"
    before = {row[0] for row in await make.rows(conn, query)}
    await SOURCES[name](conn, api)
    [made] = {row[0] for row in await make.rows(conn, query)} - before
    assert isinstance(made, UUID)
    return made


async def _prepared(conn: Conn) -> int:
    """Add the contact, a list with it and a sequence; return a worker."""
    await conn.execute("UPDATE mailqueue.projects SET require_postal_address = false")
    project = await running.project_with_template(conn)
    ann = await running.contact(conn, project, ANN, time_zone="Europe/Berlin")
    await people.list_of(conn, project, members=[ann])
    await running.sequence(conn, project, running.WELCOME)
    return await make.worker(conn)


async def _why(conn: Conn, email: UUID) -> str:
    return str(await make.scalar(conn, "SELECT mailqueue.why(%s)", email))


async def test_the_cap_counts_a_persons_marketing_of_every_source_together(
    database: DatabaseSettings,
) -> None:
    """Mail of each source is held back by that of the one before, and then holds back the next."""
    async with calling(database) as api, connect(database) as conn:
        worker = await _prepared(conn)
        await change(conn, frequency_cap="1/2d")
        first = await _made(conn, api, "compatible API")
        assert await handled(conn, worker) == [first]

        for name in SOURCES:
            mail = await _made(conn, api, name)
            assert await handled(conn, worker) == [], name
            until, reason = await waits(conn, mail)
            assert reason == "frequency cap, 1 marketing mails to a recipient in 2 days", name
            assert timedelta(days=1) < until - await now(conn) <= timedelta(days=2), name
            said = await _why(conn, mail)
            assert said.startswith(f"held back until {until:%Y-%m-%d %H:%M:%S} UTC: {reason}")

            await later(conn, days=2)
            assert await handled(conn, worker) == [mail], name


async def test_mail_of_every_source_waits_for_the_end_of_quiet_hours(
    database: DatabaseSettings,
) -> None:
    async with calling(database) as api, connect(database) as conn:
        worker = await _prepared(conn)
        await change(conn, quiet_hours=await around_now(conn, "Europe/Berlin"))
        mails = {await _made(conn, api, name): name for name in SOURCES}

        assert await handled(conn, worker) == []

        for mail, name in mails.items():
            until, reason = await waits(conn, mail)
            assert re.fullmatch(r"quiet hours, \S+ Europe/Berlin", reason), name
            assert timedelta() < until - await now(conn) <= timedelta(hours=1), name
            assert (await _why(conn, mail)).startswith("held back until "), name
        await change(conn, quiet_hours=None, frequency_cap="3/1d")
        for expected in (3, 3, 2):
            await later(conn, days=1)
            assert len(await handled(conn, worker)) == expected
