"""How many functions of ours an email enters on its way to history; it may not become more."""

import asyncio
from pathlib import Path

import pytest

from mailqueue.mail.send.dispatcher import STALL_CHECK_SECONDS
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.sending.test_worker import settings_of, worker
from tests.concurrency.running import account_at, session, until
from tests.hops import hops
from tests.smtp.client.scripted import scripted

pytestmark = pytest.mark.anyio

MAX_EMAIL_FUNCTIONS = 49


async def test_an_email_enters_no_more_functions_on_its_way_to_history(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    """From the claim to its outcome, by SMTP; what an SMTP or MIME rule says is not counted.

    The loops beside it, such as the one that looks for servers that do not reply, are counted.
    """
    async with scripted() as server, session(database) as conn:
        await account_at(conn, server)

        async def send_one() -> None:
            email = await make.queued_email(conn)

            async def is_sent() -> bool:
                return await make.status_of(conn, email) == "sent"

            await until(is_sent)

        async def entered_by_one() -> set[str]:
            with hops() as entered:
                await send_one()
                await asyncio.sleep(2 * STALL_CHECK_SECONDS)
            return {one for one in entered.names if not one.startswith(("smtp/", "mime/"))}

        async with worker(settings_of(database, tmp_path)):
            await send_one()
            await asyncio.sleep(2 * STALL_CHECK_SECONDS)  # what the first email begins has ended
            each = [await entered_by_one() for _ in range(3)]

    # What only one of them enters is of a loop that turned meanwhile, or of a slow machine.
    ours = sorted(set.intersection(*each))
    assert len(ours) <= MAX_EMAIL_FUNCTIONS, "\n".join(ours)
