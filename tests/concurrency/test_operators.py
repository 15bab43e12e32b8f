"""Operations while workers run take effect at once, and lose or duplicate no mail."""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.operations import bulk, pausing
from mailqueue.operations.model import BulkOperation
from mailqueue.operations.pausing import PauseKind, Target
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.concurrency.running import (
    SLOWLY,
    account_at,
    deliveries,
    enqueue,
    messages,
    session,
    until,
    until_nothing_is_queued,
    workers,
)
from tests.mail.claim.steps import difference
from tests.smtp.client.scripted import ScriptedServer, scripted

pytestmark = pytest.mark.anyio
MAILS = 300
IN_FLIGHT = 8
SPRING = Target(PauseKind.CAMPAIGN, "default", "spring")


def nobody(_some: int) -> None:
    """Ignore progress."""


async def unfinished(conn: Conn, campaign: str, status: str) -> int:
    found: int = await make.scalar(
        conn,
        "SELECT count(*) FROM mailqueue.email_queue WHERE campaign_id = %s AND status = %s",
        campaign,
        status,
    )
    return found


def of_campaign(server: ScriptedServer, campaign: str) -> int:
    return sum(f"Subject: {campaign}".encode() in message.body for message in server.messages)


async def test_a_pause_holds_from_the_moment_it_is_given(durable: DatabaseSettings) -> None:
    async with scripted(dot=SLOWLY) as server, session(durable) as conn:
        await account_at(conn, server)
        await enqueue(conn, MAILS, campaign_id="spring", subject="spring")
        await enqueue(conn, MAILS // 3, campaign_id="summer", subject="summer")
        async with workers(durable, processes=2, in_flight=IN_FLIGHT) as command:
            await messages(server, 20)

            await pausing.pause(conn, SPRING, until=None, reason="r", by="t", advance=nobody)
            before = of_campaign(server, "spring")

            async def only_spring_waits() -> bool:
                return (
                    of_campaign(server, "summer") == MAILS // 3
                    and await unfinished(conn, "spring", "assigned") == 0
                )

            await until(only_spring_waits)
            assert of_campaign(server, "spring") <= before + 2 * IN_FLIGHT
            waiting = await unfinished(conn, "spring", "pending")
            assert waiting > 0

            await pausing.resume(conn, SPRING, by="t")
            found = await until_nothing_is_queued(conn)
            assert await command.stopped() == 0

        assert found == {"sent": MAILS + MAILS // 3}
        assert set(deliveries(server).values()) == {1}
        assert await difference(conn) == 0


async def test_operations_and_workers_never_stand_in_each_others_way(
    durable: DatabaseSettings,
) -> None:
    """A deadlock would end one of them with an error; a skipped row would stay held."""
    async with scripted(dot=SLOWLY) as server, session(durable) as conn:
        await account_at(conn, server)
        await enqueue(conn, MAILS, campaign_id="spring")
        where = {"project": "default", "campaign_id": "spring"}
        async with workers(durable, processes=2, in_flight=IN_FLIGHT) as command:
            await messages(server, 5)
            for priority in ("high", "low", "critical", "normal"):
                for verb in ("hold", "reprioritise", "release"):
                    argument = {"reason": "r", "priority": priority}
                    argument = {k: argument[k] for k in _NEEDS[verb]}
                    order = BulkOperation(verb, where, argument)
                    await bulk.carry_out(conn, order, by="t", advance=nobody)
            found = await until_nothing_is_queued(conn)
            assert await command.stopped() == 0
            assert command.log.read_text().count("eadlock") == 0

        assert found == {"sent": MAILS}
        assert set(deliveries(server).values()) == {1}
        assert await difference(conn) == 0


_NEEDS = {"hold": ("reason",), "release": (), "reprioritise": ("priority",)}
