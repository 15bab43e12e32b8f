"""Messages whose properties no client should write stop nothing that is behind them."""

import json
import struct
from uuid import uuid4

import pika
import pytest
from pika.exceptions import AMQPError

from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.bridge import messages, raw
from tests.bridge.messages import Client, bridging, masstransit, settings, until
from tests.bridge.raw import RawProperties, field, long, nested, short, table
from tests.bridge.server import RabbitServer
from tests.inbox import events
from tests.inbox.events import ORDER

pytestmark = [pytest.mark.anyio, pytest.mark.rabbitmq]


def with_header(kind: bytes, value: bytes, name: bytes = b"a") -> RawProperties:
    return RawProperties(raw.HEADERS, table(field(name, kind, value)))


UNREADABLE = {
    "message_id: not UTF-8": RawProperties(raw.MESSAGE_ID, short(b"\xff\xfe")),
    "message_type: not UTF-8": RawProperties(raw.TYPE, short(b"\xff")),
    "correlation_id: not UTF-8": RawProperties(raw.CORRELATION_ID, short(b"\x80")),
    "content_type: not UTF-8": RawProperties(raw.CONTENT_TYPE, short(b"\xff" * 255)),
    "app_id: not UTF-8": RawProperties(raw.APP_ID, short(b"\xc3")),
    "headers: not UTF-8": with_header(b"t", b"\1", b"k\xff"),
    "headers: nested more than 100 levels": RawProperties(raw.HEADERS, nested(10_000)),
    "headers: no time: 18446744073709551615": with_header(b"T", b"\xff" * 8),
    "timestamp: no time: 4611686018427387904": RawProperties(
        raw.TIMESTAMP, struct.pack(">Q", 2**62)
    ),
}
READABLE = {
    "a text that is not UTF-8": with_header(b"S", long(b"\xff")),
    "bytes": with_header(b"x", long(b"\xff\0")),
    "a number below 0": with_header(b"b", b"\xff"),
    "a large float": with_header(b"d", struct.pack(">d", 1e300)),
    "a decimal": with_header(b"D", b"\xff\xff\xff\xff\xff"),
    "an unsigned number": with_header(b"L", b"\xff" * 8),
    "tables in tables": RawProperties(raw.HEADERS, nested(100)),
    "headers as large as a frame": with_header(b"S", long(b"x" * 131_000)),
    "a long name": with_header(b"t", b"\1", "\N{GRINNING FACE}".encode() * 60),
    "a name twice": RawProperties(
        raw.HEADERS, table(field(b"a", b"t", b"\1"), field(b"a", b"t", b"\0"))
    ),
    "a count of deliveries": with_header(b"l", struct.pack(">q", 2**62), b"x-delivery-count"),
    "the largest priority": RawProperties(raw.PRIORITY, b"\xff"),
    "an unknown flag": RawProperties(2),
    "a flag for more flags": RawProperties(1),
    "nothing": RawProperties(0),
}
REFUSED = {
    "an unknown type": with_header(b"Q", long(b"x")),
    "not a number": with_header(b"d", struct.pack(">d", float("nan"))),
    "a table that is cut": RawProperties(raw.HEADERS, b"\0\0\0\x40ab"),
    "a list that is cut": with_header(b"A", b"\0\0\0\x40"),
    "an expiration": RawProperties(raw.EXPIRATION, short(b"soon")),
    "a negative expiration": RawProperties(raw.EXPIRATION, short(b"-1")),
    "a delivery mode": RawProperties(raw.DELIVERY_MODE, b"\7"),
}


async def count(conn: Conn, relation: str) -> int:
    return int(await make.scalar(conn, f"SELECT count(*) FROM mailqueue.{relation}"))


@pytest.mark.parametrize("kind", ["text", "event"])
async def test_properties_that_cannot_be_read_make_a_dead_letter_and_the_next_is_handled(
    kind: str, rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, queue = Client(rabbit), messages.name()
    bodies = [
        masstransit() if kind == "event" else f"text {number}".encode()
        for number in range(len(UNREADABLE))
    ]
    async with bridging(database, settings(rabbit, queue)):
        await client.exists(queue)
        for hostile, body in zip(UNREADABLE.values(), bodies, strict=True):
            await raw.publish(client, queue, hostile, body)
            await client.publish(queue, [masstransit()])

        async def is_done() -> bool:
            return (
                await count(conn, "email_queue") == len(UNREADABLE)
                and await client.count(f"{queue}.dead-letters") == len(UNREADABLE)
                and await client.count(queue) == 0
            )

        await until(is_done)

    query = "SELECT reason, body, deliveries FROM mailqueue.dead_letters ORDER BY id"
    found = await make.rows(conn, query)
    # Each was delivered once: the connection was never lost.
    assert found == [
        (said, body.decode(), 1) for said, body in zip(UNREADABLE, bodies, strict=True)
    ]
    copies = await client.take(f"{queue}.dead-letters")
    assert [content for _, content in copies] == bodies
    assert [one.headers["mailqueue-reason"] for one, _ in copies] == list(UNREADABLE)


async def test_unusual_properties_of_what_is_no_event_reach_the_dead_letter_queue(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, queue = Client(rabbit), messages.name()
    loop = with_header(b"A", long(b"S" + long(queue.encode())), b"CC")
    async with bridging(database, settings(rabbit, queue)):
        await client.exists(queue)
        await raw.publish(client, queue, RawProperties(0), b"")
        for number, hostile in enumerate(READABLE.values()):
            await raw.publish(client, queue, hostile, f"text {number}".encode())
        # It comes to the queue by its header; its copy must not.
        await raw.publish(client, f"{queue}.dead-letters", loop, b"a loop")
        await client.publish(queue, [masstransit()])
        letters = len(READABLE) + 2

        async def is_done() -> bool:
            return (
                await count(conn, "email_queue") == 1
                and await count(conn, "dead_letters") == letters
                and await client.count(queue) == 0
            )

        await until(is_done)

    assert await count(conn, "dead_letters WHERE reason NOT LIKE 'body: not JSON%'") == 0
    assert await count(conn, "dead_letters WHERE deliveries <> 1") == 0
    copies = await client.take(f"{queue}.dead-letters")
    assert len(copies) == letters + 1  # and what was published there
    large = [one for one, _ in copies if "mailqueue-headers" in one.headers]
    assert [one.headers["mailqueue-headers"] for one in large] == ["left out: more than 64 KiB"]


async def test_unusual_properties_of_an_event_change_nothing_of_it(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, queue = Client(rabbit), messages.name()
    async with bridging(database, settings(rabbit, queue)):
        await client.exists(queue)
        for hostile in READABLE.values():
            await raw.publish(client, queue, hostile, masstransit())
        await client.publish(queue, [masstransit()], content_encoding="gzip", priority=9)

        async def is_done() -> bool:
            query = "inbox_state WHERE status IN ('handled', 'failed')"
            return await count(conn, query) == len(READABLE) + 1

        await until(is_done)

    # Headers that the inbox does not take make a failed event.
    failed = await make.rows(
        conn, "SELECT reason FROM mailqueue.inbox_state WHERE status = 'failed'"
    )
    assert all(reason.startswith("headers: ") for (reason,) in failed)
    assert await count(conn, "email_queue") == len(READABLE) + 1 - len(failed)
    assert await count(conn, "dead_letters") == 0


@pytest.mark.parametrize("hostile", REFUSED.values(), ids=REFUSED)
async def test_the_broker_itself_refuses_what_it_cannot_read(
    hostile: RawProperties, rabbit: RabbitServer
) -> None:
    client, queue = Client(rabbit), messages.name()
    await client.bind(f"x{queue}", queue)

    with pytest.raises(AMQPError):
        await raw.publish(client, queue, hostile, b"{}")


async def test_a_routing_key_that_is_not_utf8_is_no_hindrance(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, queue = Client(rabbit), messages.name()
    async with bridging(database, settings(rabbit, queue)):
        await client.exists(queue)
        await client.bind(f"all-{queue}", queue, kind="fanout", is_declared=True)
        await raw.publish(
            client,
            queue,
            RawProperties(0),
            masstransit(),
            exchange=f"all-{queue}",
            key=b"\xff" * 255,
        )

        async def is_done() -> bool:
            return await count(conn, "email_queue") == 1

        await until(is_done)


async def test_a_body_of_20_mb_is_a_dead_letter_whose_copy_is_whole(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, queue = Client(rabbit), messages.name()
    body = b" " * 20_000_000
    async with bridging(database, settings(rabbit, queue)):
        await client.exists(queue)
        await client.publish(queue, [body, masstransit()])

        async def is_done() -> bool:
            return await count(conn, "email_queue") == 1

        await until(is_done)

    [(reason, kept)] = await make.rows(conn, "SELECT reason, body FROM mailqueue.dead_letters")
    assert (reason, kept) == ("body: more than 4 MiB", None)
    [(_, copy)] = await client.take(f"{queue}.dead-letters")
    assert copy == body


async def test_headers_of_1_mb_pass_where_the_broker_takes_them(
    large_frames: RabbitServer,
    database: DatabaseSettings,
    conn: Conn,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pika.spec, "FRAME_MAX_SIZE", 4_000_000)
    await events.rule(conn, await events.project_with_template(conn))
    client, queue, message = Client(large_frames), messages.name(), uuid4()
    hostile = with_header(b"S", long(b"x" * 1_000_000))
    plain = RawProperties(
        raw.HEADERS | raw.MESSAGE_ID | raw.TYPE,
        table(field(b"a", b"S", long(b"x" * 1_000_000))),
        short(str(message).encode()),
        short(b"OrderPlaced"),
    )
    async with bridging(database, settings(large_frames, queue)):
        await client.exists(queue)
        for properties, body in ((hostile, b"no event"), (plain, json.dumps(ORDER).encode())):
            await raw.publish(client, queue, properties, body, frame_max=4_000_000)
        await client.publish(queue, [masstransit()])

        async def is_done() -> bool:
            return await count(conn, "email_queue") == 1 and await client.count(queue) == 0

        await until(is_done)

    [(reason,)] = await make.rows(conn, "SELECT left(reason, 14) FROM mailqueue.dead_letters")
    assert reason == "body: not JSON"
    [(said,)] = await make.rows(
        conn, "SELECT reason FROM mailqueue.inbox_state WHERE status = 'failed'"
    )
    assert said.startswith("headers: ")
