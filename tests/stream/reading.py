"""Has consumers handle what is in the stream, on the connection of a test."""

import asyncio

from mailqueue.db.fetch import Conn
from tests import make

WAITING = """
SELECT EXISTS (SELECT FROM mailqueue.consumers AS c
                WHERE EXISTS (SELECT FROM mailqueue.unhandled_events(c, %s, 1)))
"""


async def read_stream(conn: Conn) -> None:
    """Handle what is in the stream, for each consumer.

    What a worker is reading is left to it, and waited for.
    """
    last = await make.scalar(conn, "SELECT mailqueue.last_event_number()")
    while await make.scalar(conn, WAITING, last):
        await conn.execute("SELECT mailqueue.read_stream()")
        await asyncio.sleep(0)


NOTING = """
CREATE TABLE public.seen (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name   text   NOT NULL,
    event  bigint NOT NULL,
    UNIQUE (name, event));
GRANT INSERT ON public.seen TO mailqueue_owner;
CREATE OR REPLACE FUNCTION mailqueue.queue_webhook_deliveries(p_numbers bigint[]) RETURNS void
LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.seen (name, event)
    SELECT 'webhooks', n FROM unnest(p_numbers) WITH ORDINALITY AS e(n, i) ORDER BY i;
END $$;
CREATE OR REPLACE FUNCTION mailqueue.write_outbox_events(p_numbers bigint[]) RETURNS void
LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.seen (name, event)
    SELECT 'outboxes', n FROM unnest(p_numbers) WITH ORDINALITY AS e(n, i) ORDER BY i;
END $$;
UPDATE mailqueue.consumers SET is_ordered = name = 'outboxes';
"""
READERS = {"webhooks": False, "outboxes": True}
"""Consumers that write down what they get once `note_events` was called; whether in order."""


async def note_events(conn: Conn) -> None:
    """Have consumers write down the events that they get, in `public.seen`; twice is an error."""
    await conn.execute(NOTING)


async def seen(conn: Conn, name: str) -> list[int]:
    """Return the numbers of the events that a consumer got, in that order."""
    query = "SELECT event FROM public.seen WHERE name = %s ORDER BY number"
    return [row[0] for row in await make.rows(conn, query, name)]


async def stored(conn: Conn) -> list[int]:
    """Return the numbers of the events in the stream, in order."""
    query = "SELECT sequence_number FROM mailqueue.event_stream ORDER BY sequence_number"
    return [row[0] for row in await make.rows(conn, query)]


async def assert_each_was_seen_once(conn: Conn, count: int) -> None:
    """Assert that each consumer got all events, without an error, and in order if it has one."""
    numbers = await stored(conn)
    assert len(numbers) == count
    for name, is_ordered in READERS.items():
        found = await seen(conn, name)
        assert sorted(found) == numbers
        if is_ordered:
            assert found == numbers
    errors = "SELECT last_error, left_out FROM mailqueue.consumers"
    assert await make.rows(conn, errors) == [(None, 0)] * len(READERS)
