"""A real Postfix bounces a mail and delivers the bounce by LMTP; the address is suppressed."""

import asyncio
import smtplib
from pathlib import Path

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect, open_pool
from mailqueue.inbound.listener import bounce_listener
from mailqueue.settings.bounces import BounceSettings
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tracking.keyring import Keyring
from tests import make
from tests.events.sent_mail import left
from tests.inbound.bounces.bounce_mail import DOMAIN, MASTER, BounceReceiver
from tests.inbound.bounces.postfix import GONE, bouncing
from tests.smtp.server.serving import serving

pytestmark = [pytest.mark.anyio, pytest.mark.postfix]


async def test_what_postfix_cannot_deliver_suppresses_its_recipient(
    fresh_db: str, reachable_folder: Path
) -> None:
    database = DatabaseSettings(Secret(fresh_db))
    async with connect(database) as conn, open_pool(database) as pool:
        office = BounceReceiver(conn, database, Keyring(lambda: MASTER))
        await make.project(conn, "bouncing", bounce_domain=DOMAIN)
        address = f"nobody@{GONE}"
        mail = await left(conn, recipient_email=address)
        sender = await office.way_back(mail)
        async with (
            bounce_listener(BounceSettings(port=0), pool, database) as running,
            serving() as refusing,
        ):
            home = reachable_folder / "bouncing"
            with bouncing(home, domain=DOMAIN, listener=running.port, refusing=refusing) as port:
                await asyncio.to_thread(_send, port, sender, address)
                for _ in range(1200):
                    if await make.scalar(conn, "SELECT count(*) FROM mailqueue.inbound_events"):
                        break
                    await asyncio.sleep(0.05)
        await office.work()

        assert await office.events() == [("hard_bounce", address, "5.1.1", "dsn")]
        assert await office.suppressed() == [address]


def _send(port: int, sender: str, recipient: str) -> None:
    with smtplib.SMTP("127.0.0.1", port, timeout=60) as client:
        client.sendmail(sender, [recipient], b"Subject: x\r\n\r\nHello\r\n")
