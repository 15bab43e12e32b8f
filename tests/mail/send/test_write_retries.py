"""A database that is reachable and refuses writes: known outcomes are kept and retried."""

import pytest
from psycopg.errors import UndefinedTable

from mailqueue.db import link
from mailqueue.mail.send import settler
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.send.scripted import until
from tests.mail.send.test_settler import Desk, Gated, claimed_mail, writing

pytestmark = pytest.mark.anyio
AWAY = "ALTER TABLE mailqueue.email_history RENAME TO elsewhere"
BACK = "ALTER TABLE mailqueue.elsewhere RENAME TO email_history"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "REFUSED_WAIT", 0.01)


async def test_outcomes_refused_for_a_while_are_written_in_the_end(
    database: DatabaseSettings,
) -> None:
    async with (
        claimed_mail(database, 1) as (conn, worker, mails),
        writing(database, worker) as desk,
    ):
        await conn.execute(AWAY)
        desk.settle(*mails)
        await until(lambda: desk.link.calls > 2)

        await conn.execute(BACK)

        await desk.settler.drained()
        assert desk.written == [1]
        assert await make.scalar(conn, "SELECT status FROM mailqueue.email_history") == "sent"


async def test_what_is_refused_for_long_ends_the_worker(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settler, "RETRY_SECONDS", 0.1)
    async with claimed_mail(database, 1) as (conn, worker, mails):
        await conn.execute(AWAY)
        desk = Desk(Gated(database), worker, slots=8, most=200)
        desk.settle(*mails)

        with pytest.raises(UndefinedTable):
            await desk.settler.run()
