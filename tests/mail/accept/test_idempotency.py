"""One key, one mail: concurrent requests get the same mail, a different content is refused."""

import asyncio
from uuid import UUID

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.accept.intakes import WAYS, NotAccepted, Way, by_batch, by_copy, by_enqueue, plain

pytestmark = pytest.mark.anyio

TWINS = 8
# INSERT and COPY give no id for a twin: nothing is inserted.
GIVING = {name: way for name, way in WAYS.items() if name in ("enqueue", "batch")}


@pytest.mark.parametrize("way", GIVING.values(), ids=list(GIVING))
async def test_twins_from_many_connections_are_one_mail(
    database: DatabaseSettings, way: Way
) -> None:
    at_once = asyncio.Barrier(TWINS)

    async def twin() -> UUID:
        async with connect(database) as conn:
            await at_once.wait()
            return await way(conn, **plain(idempotency_key="k", cc=["c@example.com"]))

    ids = await asyncio.gather(*(twin() for _ in range(TWINS)))

    assert len(set(ids)) == 1
    async with connect(database) as conn:
        for table, count in (("emails", 1), ("email_contents", 1), ("email_recipients", 2)):
            assert await make.scalar(conn, f"SELECT count(*) FROM mailqueue.{table}") == count
        assert await make.scalar(conn, "SELECT sum(emails) FROM mailqueue.lane_signals") == 1


async def test_inserted_twins_from_many_connections_are_one_mail(
    database: DatabaseSettings,
) -> None:
    at_once = asyncio.Barrier(TWINS)

    async def twin() -> UUID | None:
        async with connect(database) as conn:
            await at_once.wait()
            found: UUID | None = await make.inserted(
                conn, "email_queue", plain(idempotency_key="k")
            )
            return found

    ids = await asyncio.gather(*(twin() for _ in range(TWINS)))

    assert len([email_id for email_id in ids if email_id is not None]) == 1
    async with connect(database) as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.emails") == 1
        assert await make.scalar(conn, "SELECT max(difference) FROM mailqueue.books") == 0


@pytest.mark.deep
async def test_a_twin_waits_for_the_first_and_takes_its_place_if_that_is_taken_back(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as first, connect(database) as second:
        async with first.transaction(force_rollback=True):
            await by_enqueue(first, **plain(idempotency_key="k"))
            waiting = asyncio.create_task(by_enqueue(second, **plain(idempotency_key="k")))
            for _ in range(200):
                if await make.scalar(
                    first, "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"
                ):
                    break
                await asyncio.sleep(0.01)
            assert not waiting.done()

        email_id = await waiting

        assert await make.status_of(second, email_id) == "pending"


CHANGES: list[dict[str, object]] = [
    {"subject": "Other"},
    {"text_body": "Other"},
    {"html_body": "<p>"},
    {"recipient_email": "bob@example.com"},
    {"recipient_name": "Ann"},
    {"cc": ["c@example.com"]},
    {"bcc": ["c@example.com"]},
    {"also_to": ["c@example.com"]},
    {"from_email": "x@example.com"},
    {"reply_to": "x@example.com"},
    {"headers": {"X-A": "b"}},
    {"campaign_id": "c"},
    {"tags": ["t"]},
    {"custom_data": {"a": 1}},
    {"category": "marketing"},
    {"priority": 1},
]


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
@pytest.mark.parametrize("change", CHANGES, ids=[next(iter(change)) for change in CHANGES])
async def test_another_mail_under_the_same_key_is_refused(
    conn: Conn, way: Way, change: dict[str, object]
) -> None:
    await way(conn, **plain(idempotency_key="k"))

    with pytest.raises(NotAccepted) as refused:
        await way(conn, **plain(idempotency_key="k", **change))

    assert refused.value.field == "idempotency_key"
    assert '"k" was used for another email' in refused.value.message
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.emails") == 1
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_contents") == 1


async def test_every_way_in_is_the_others_twin(conn: Conn) -> None:
    first = await by_enqueue(conn, **plain(idempotency_key="k"))

    assert await by_batch(conn, **plain(idempotency_key="k")) == first
    assert await by_copy(conn, **plain(idempotency_key="k")) == first
    assert await make.inserted(conn, "email_queue", plain(idempotency_key="k")) is None
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.emails") == 1


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
async def test_projects_have_keys_of_their_own(conn: Conn, way: Way) -> None:
    await make.project(conn, "shop")

    ids = {
        await way(conn, **plain(idempotency_key="k", project=project))
        for project in ("default", "shop")
    }

    assert len(ids) == 2


@pytest.mark.parametrize("way", GIVING.values(), ids=list(GIVING))
async def test_the_key_of_a_finished_mail_still_gives_that_mail(conn: Conn, way: Way) -> None:
    first = await way(conn, **plain(idempotency_key="k"))
    project_id = await make.project_named(conn)
    await conn.execute("SELECT mailqueue.cancel_emails(%s, %s)", (project_id, [first]))

    assert await way(conn, **plain(idempotency_key="k")) == first
    assert await make.status_of(conn, first) == "cancelled"


async def test_a_key_is_free_again_when_its_mail_was_refused(conn: Conn) -> None:
    """Also inside a batch whose other messages are accepted."""
    bad = plain(idempotency_key="k", cc=["nobody"])
    for way in (by_enqueue, by_batch):
        with pytest.raises(NotAccepted):
            await way(conn, **bad)

    assert await by_enqueue(conn, **plain(idempotency_key="k"))


async def test_two_batches_with_keys_in_opposite_order_do_not_wait_forever(
    database: DatabaseSettings,
) -> None:
    """At worst the server cancels one of them, which can be run again."""

    async def run(keys: list[str]) -> str:
        messages = ", ".join(
            '{"recipient": "a@example.com", "subject": "s", "text": "t",'
            f' "idempotency_key": "{key}"}}'
            for key in keys
        )
        async with connect(database) as conn:
            try:
                await conn.execute(
                    "SELECT * FROM mailqueue.enqueue_batch('default', %s::jsonb)",
                    (f"[{messages}]",),
                )
            except errors.DeadlockDetected:
                return "ended"
            return "done"

    keys = [f"k{n}" for n in range(200)]
    ends = await asyncio.wait_for(asyncio.gather(run(keys), run(keys[::-1])), timeout=30)

    assert "done" in ends
    async with connect(database) as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.emails") == 200
