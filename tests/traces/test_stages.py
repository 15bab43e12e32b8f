"""What a worker does at an attempt is in the trace of a sampled email, and costs others nothing."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg.types.json import Jsonb

from mailqueue.core.trace_context import is_sampled
from mailqueue.db.fetch import Conn
from mailqueue.mail.send.stages import StageClock
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.traces.model import SentStages
from mailqueue.traces.spans import spans_of, with_stages
from tests import make
from tests.concurrency.running import account_at, session, until_nothing_is_queued
from tests.mail.claims import claimed
from tests.mail.send.test_worker import courier
from tests.smtp.client.scripted import scripted
from tests.traces.collector import collecting, facts, spans_in
from tests.traces.mail import SPAN_ID, TRACE, TRACE_ID, exported
from tests.traces.test_spans import AT, EMAIL, step

pytestmark = pytest.mark.anyio
URL = "http://127.0.0.1:4318/v1/traces"
UNSAMPLED = f"00-{'7' * 32}-{SPAN_ID}-00"
NOTED = "SELECT count(*) FROM mailqueue.send_stages"
ORDER = ["accept", "wait", "claim", "compose", "hand", "settle"]


async def test_each_stage_of_an_attempt_is_a_span_that_follows_the_one_before(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        async with collecting(database) as (collector, exporter):
            email = await make.queued_email(conn, custom_data={"traceparent": TRACE})
            await make.queued_email(conn, custom_data={"traceparent": UNSAMPLED})
            await make.queued_email(conn)
            async with courier(database, tmp_path, traces_url=URL):
                await until_nothing_is_queued(conn)
            assert await make.scalar(conn, NOTED) == 1
            await exported(exporter)

    spans = spans_in(collector.requests)
    assert [one.name.split()[0] for one in spans] == ORDER
    assert {one.trace_id.hex() for one in spans} == {TRACE_ID}
    assert len({one.span_id for one in spans}) == len(ORDER)
    accept, wait, claim, compose, handed, settle = spans
    assert {one.parent_span_id for one in spans[1:]} == {accept.span_id}
    assert wait.end_time_unix_nano == claim.start_time_unix_nano
    assert claim.end_time_unix_nano == compose.start_time_unix_nano
    assert compose.end_time_unix_nano <= handed.start_time_unix_nano
    assert handed.end_time_unix_nano == settle.start_time_unix_nano
    assert all(one.start_time_unix_nano <= one.end_time_unix_nano for one in spans)
    assert {facts(one)["messaging.message.id"] for one in spans} == {str(email)}


async def test_the_exporter_deletes_stages_of_two_days_ago(database: DatabaseSettings) -> None:
    async with session(database) as conn:
        for age in ("49 h", "47 h"):
            await conn.execute(
                "INSERT INTO mailqueue.send_stages SELECT gen_random_uuid(), now() - %s::interval,"
                " 1, 1, 1, 1",
                [age],
            )
        async with collecting(database) as (_, exporter):
            await exported(exporter)

        assert await make.scalar(conn, NOTED) == 1


async def test_a_page_deletes_a_bounded_number_of_old_stages(database: DatabaseSettings) -> None:
    """After days without an exporter there may be millions: a page must not wait for all."""
    async with session(database) as conn:
        await conn.execute(
            "INSERT INTO mailqueue.send_stages SELECT gen_random_uuid(), now() - interval '3 d',"
            " 1, 1, 1, 1 FROM generate_series(1, 5001)"
        )
        async with collecting(database) as (_, exporter):
            left: list[int] = []
            while left[-2:] != [0, 0] and len(left) < 10:
                await exported(exporter, turns=1)
                left.append(await make.scalar(conn, NOTED))

    assert list(dict.fromkeys(left)) in ([5001, 1, 0], [1, 0])


async def test_emails_sampled_by_the_ratio_have_the_same_stages(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        async with collecting(database, ratio=1.0) as (collector, exporter):
            await make.queued_email(conn)
            async with courier(database, tmp_path, traces_url=URL, traces_ratio=1.0):
                await until_nothing_is_queued(conn)
            await exported(exporter)

    assert [one.name.split()[0] for one in spans_in(collector.requests)] == ORDER


@pytest.mark.parametrize("is_exporting", [True, False])
async def test_where_traces_are_off_nothing_is_noted(
    database: DatabaseSettings, tmp_path: Path, *, is_exporting: bool
) -> None:
    """Neither by workers without a collector, nor for a collector to which nothing is exported."""
    variables: dict[str, Any] = {} if is_exporting else {"traces_url": URL}
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)
        async with collecting(database):
            pass
        if not is_exporting:
            await conn.execute("DELETE FROM mailqueue.trace_export")
        await make.queued_email(conn, custom_data={"traceparent": TRACE})
        async with courier(database, tmp_path, **variables):
            assert (await until_nothing_is_queued(conn))["sent"] == 1
        assert await make.scalar(conn, NOTED) == 0


def test_times_are_kept_of_sampled_emails_until_they_are_forgotten() -> None:
    sampled, other = claimed(custom_data={"traceparent": TRACE}), claimed()
    clock = StageClock(0.0)
    clock.claimed([sampled, other])
    clock.composed(sampled, 0.0)

    assert list(clock._held) == [(sampled.id, sampled.claim_no)]
    clock.forget(sampled.id, sampled.claim_no)
    assert not clock._held


async def test_workers_sample_as_the_exporter_does(conn: Conn) -> None:
    contexts = [None, TRACE, UNSAMPLED, "00-zz", f"{TRACE}-more", f"cc{TRACE[2:]}-more"]
    for ratio in (0.0, 0.3, 1.0):
        for context in contexts:
            for email_id in (uuid4(), UUID(int=0), UUID(int=2**128 - 1)):
                data = None if context is None else {"traceparent": context}
                query = "SELECT mailqueue.is_traced(%s, %s::jsonb ->> 'traceparent', %s)"
                document = None if data is None else Jsonb(data)
                found = await make.scalar(conn, query, email_id, document, ratio)
                assert is_sampled(email_id, data, ratio) is found, (email_id, data, ratio)


def stages(noted_at: datetime, *ms: int) -> SentStages:
    return SentStages(EMAIL, noted_at, *ms)


def test_an_attempt_has_the_stages_that_were_noted_last_before_its_outcome() -> None:
    second = timedelta(seconds=1)
    earlier = stages(AT - timedelta(hours=2), 1, 1, 1, 1)  # of the attempt before
    first, last = stages(AT - 2 * second, 9, 8, 7, 6), stages(AT - second, 9, 8, 7, 6)
    later = stages(AT + second, 1, 1, 1, 1)
    event = step(event_id=UUID(int=3), key="e", type="delivered", source="provider")

    attempt, told = with_stages([step(), event], [earlier, first, last, later])

    assert attempt.stages == last
    assert told.stages is None
    assert with_stages([step()], [earlier, later])[0].stages is None


@pytest.mark.parametrize(
    "ms", [(400, 300, 200, 100), (0, 0, 0, 0), (1, 2, 3, 4), (-5, 2**31, 0, -9)]
)
@pytest.mark.parametrize("response_ms", [None, 40, 2_000_000_000])
def test_no_stage_ends_before_it_begins_or_after_the_outcome(
    ms: tuple[int, ...], response_ms: int | None
) -> None:
    """Whatever the clocks of two hosts say."""
    for early in (timedelta(0), timedelta(milliseconds=50), timedelta(days=1)):
        made = spans_of(step(response_ms=response_ms, stages=stages(AT - early, *ms)))
        assert [one.name.split()[0] for one in made] == ORDER
        for one in made:
            assert one.began_at <= one.ended_at <= AT
        for one, following in pairwise(made[1:]):
            assert one.ended_at <= following.began_at


def test_times_are_those_of_the_stages() -> None:
    made = spans_of(step(response_ms=40, stages=stages(AT, 400, 300, 200, 10)))
    before = [
        (
            round((AT - one.began_at).total_seconds() * 1000),
            (AT - one.ended_at).microseconds // 1000,
        )
        for one in made[2:]
    ]
    assert AT.tzinfo is UTC
    assert before == [(400, 300), (300, 200), (50, 10), (10, 0)]
