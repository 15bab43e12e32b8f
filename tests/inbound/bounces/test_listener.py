"""Bounce mail is received by SMTP and LMTP, for bounce domains only, durably before the reply."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from uuid import uuid4

import pytest

from mailqueue.contract.processes import BounceListener
from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret
from mailqueue.core.services.registry import service_named
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, connect, open_pool
from mailqueue.inbound.listener import LIMITS, Domains, Listener, bounce_listener
from mailqueue.settings.bounces import BounceSettings
from mailqueue.settings.environment import DatabaseSettings, load_settings
from mailqueue.wiring.services.running import ServiceContext, listen
from tests import make
from tests.smtp.server.serving import RawClient, connected

pytestmark = pytest.mark.anyio

DOMAIN = "bounces.example.org"


@dataclass(frozen=True, slots=True)
class Place:
    conn: Conn
    pool: Pool
    database: DatabaseSettings

    @asynccontextmanager
    async def client(self, hello: bytes = b"EHLO mx.example.com") -> AsyncIterator[RawClient]:
        settings = BounceSettings(port=0, domains=("fbl.example.net",), name="mx.example.org")
        async with (
            bounce_listener(settings, self.pool, self.database) as running,
            connected(running.port, greeted=False) as client,
        ):
            assert (await client.ask(hello)).startswith("250-mx.example.org")
            yield client

    async def kept(self) -> list[tuple[bytes, dict[str, str]]]:
        found = await make.rows(
            self.conn, "SELECT body, query FROM mailqueue.inbound_events ORDER BY id"
        )
        return [(row[0], row[1]) for row in found]


@pytest.fixture(scope="module")
async def place(module_db: str) -> AsyncIterator[Place]:
    database = DatabaseSettings(Secret(module_db))
    async with connect(database) as conn, open_pool(database) as pool:
        await make.project(conn, "bouncing", bounce_domain=DOMAIN)
        yield Place(conn, pool, database)


@pytest.fixture(autouse=True)
async def nothing_kept(place: Place) -> None:
    await place.conn.execute("DELETE FROM mailqueue.inbound_events")


async def handed(
    client: RawClient,
    *recipients: str,
    sender: str = "",
    body: bytes = b"Subject: x\r\n\r\nhi\r\n",
) -> list[str]:
    """Submit a message; return the codes of all replies up to that of DATA."""
    to = b"".join(f"RCPT TO:<{one}>\r\n".encode() for one in recipients)
    client.send(f"MAIL FROM:<{sender}>\r\n".encode() + to + b"DATA\r\n")
    found = await client.codes(2 + len(recipients))
    client.send(body + b".\r\n")
    return found


async def test_it_is_kept_as_it_came_with_its_envelope(place: Place) -> None:
    async with place.client() as client:
        assert await handed(client, f"bounces+abc@{DOMAIN.upper()}") == ["250", "250", "354"]
        assert (await client.answer()).startswith("250 2.0.0 Ok: stored as ")

        query = {"sender": "", "recipient": f"bounces+abc@{DOMAIN.upper()}"}
        assert await place.kept() == [(b"Subject: x\r\n\r\nhi\r\n", query)]


async def test_each_recipient_of_lmtp_has_an_answer_and_the_message_is_kept_once(
    place: Place,
) -> None:
    async with place.client(b"LHLO relay.example.com") as client:
        found = await handed(client, f"a@{DOMAIN}", "b@elsewhere.example", "c@fbl.example.net")

        assert found == ["250", "250", "550", "250", "354"]
        assert await client.codes(2) == ["250", "250"]
    [(_, query)] = await place.kept()
    assert query["recipient"] == f"a@{DOMAIN} c@fbl.example.net"


@pytest.mark.parametrize(
    "address",
    ["ann@example.com", f"ann@x.{DOMAIN}", f"ann@{DOMAIN}.example", f"{DOMAIN}@example.com",
     "postmaster"],
)  # fmt: skip
async def test_mail_for_other_domains_is_refused(place: Place, address: str) -> None:
    async with place.client() as client:
        await client.ask(b"MAIL FROM:<>")

        assert (await client.ask(f"RCPT TO:<{address}>".encode())).startswith("550 5.7.1")


async def test_a_sender_need_not_be_empty(place: Place) -> None:
    async with place.client() as client:
        await handed(client, "fbl@fbl.example.net", sender="staff@provider.example")

        assert await client.codes(1) == ["250"]
    [(_, query)] = await place.kept()
    assert query["sender"] == "staff@provider.example"


async def test_who_did_not_hear_the_answer_and_comes_again_adds_nothing(place: Place) -> None:
    for _ in range(3):
        async with place.client() as client:
            await handed(client, f"a@{DOMAIN}")
            assert await client.codes(1) == ["250"]

    assert len(await place.kept()) == 1


async def test_a_domain_that_a_project_names_later_is_known_soon(place: Place) -> None:
    domains = Domains(())
    await domains.refresh(place.pool, place.database)
    name = f"b{uuid4().hex[:8]}.example.org"
    assert not domains.takes(f"x@{name}")

    await make.project(place.conn, bounce_domain=name)
    await domains.refresh(place.pool, place.database)

    assert domains.takes(f"x@{name}")
    assert domains.takes(f"x@{name.upper()}.")


async def test_nothing_is_taken_that_is_larger_than_a_bounce_may_be(place: Place) -> None:
    async with place.client() as client:
        size = LIMITS.message_bytes + 1

        answer = await client.ask(f"MAIL FROM:<> SIZE={size}".encode())

    assert answer.startswith("552 5.3.4")


async def test_only_the_right_end_ends_a_message(place: Place) -> None:
    """An ending that only some servers recognize, which hides a second message, stays one
    message.
    """
    hidden = b"\n.\nMAIL FROM:<evil@x.example>\nRCPT TO:<a@b.example>\nDATA\nhi\n.\n\r\n"
    async with place.client() as client:
        await handed(client, f"a@{DOMAIN}", body=b"Subject: x\r\n\r\n1" + hidden)

        assert await client.codes(1) == ["250"]
        assert (await client.ask(b"NOOP"))[:3] == "250"
    assert len(await place.kept()) == 1


async def test_while_the_database_is_away_the_sender_is_to_come_again(place: Place) -> None:
    settings = BounceSettings(port=0)
    async with (
        open_pool(place.database) as pool,
        bounce_listener(settings, pool, place.database) as running,
        connected(running.port) as client,
    ):
        await pool.close()

        await handed(client, f"a@{DOMAIN}")

        assert (await client.answer()).startswith("451 4.3.0")
    assert await place.kept() == []


async def test_it_stops_when_told_and_answers_what_was_handed_over(place: Place) -> None:
    stop = asyncio.Event()
    there: asyncio.Future[Listener] = asyncio.get_running_loop().create_future()

    async def run() -> None:
        async with bounce_listener(BounceSettings(port=0), place.pool, place.database) as found:
            there.set_result(found)
            await stop.wait()

    running = asyncio.create_task(run())
    async with connected((await there).port) as client:
        await handed(client, f"a@{DOMAIN}")
        assert await client.codes(1) == ["250"]
        stop.set()

        assert (await client.answer())[:3] == "421"
    await running


async def test_beside_all_else_it_listens_where_a_port_was_named(place: Place) -> None:
    service, usual = service_named("bounces"), replace(load_settings(), database=place.database)
    context = ServiceContext(usual, place.pool, asyncio.Event(), report=print, is_in_up=True)
    async with listen(service, context) as running:
        assert running is None
    named = replace(context, settings=replace(usual, bounces=BounceSettings(port=0)))
    async with listen(service, named) as running:
        assert running is not None
        assert isinstance(running.document, BounceListener)
        async with connected(running.document.port):
            pass


async def test_a_port_in_use_is_said_with_its_name(place: Place) -> None:
    async with bounce_listener(BounceSettings(port=0), place.pool, place.database) as running:
        with pytest.raises(ConfigError, match=f"MAILQUEUE_BOUNCES_PORT {running.port}"):
            async with bounce_listener(
                BounceSettings(port=running.port), place.pool, place.database
            ):
                pass
