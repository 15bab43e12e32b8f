"""A database that is reachable and refuses writes: known outcomes are kept and retried."""

import pytest
from psycopg.errors import UndefinedTable

from mailqueue.db import link
from mailqueue.mail.send import settler
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, counted, difference, row
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

        await desk.settler.is_idle.wait()
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


CHECKED = "ALTER TABLE mailqueue.email_history ADD CONSTRAINT tried CHECK (id <> '{}')"
RAISED = """
    CREATE FUNCTION mailqueue.tried() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'not this one'; END $$;
    CREATE TRIGGER tried BEFORE INSERT ON mailqueue.email_history FOR EACH ROW
        WHEN (NEW.id = '{}') EXECUTE FUNCTION mailqueue.tried()
"""


@pytest.mark.parametrize("refusal", [CHECKED, RAISED])
async def test_an_email_whose_outcome_is_refused_for_good_is_held_at_once(
    database: DatabaseSettings, refusal: str
) -> None:
    """Not when its lease ends: the others are settled, and the worker goes on."""
    async with (
        claimed_mail(database, 3) as (conn, worker, mails),
        writing(database, worker) as desk,
    ):
        refused, *others = mails
        await conn.execute(refusal.format(refused.id).encode())
        await desk.hand_over(mails)
        desk.settle(*mails)
        await desk.settler.is_idle.wait()
        await make.queued_emails(conn, 1)
        [last] = await claim(conn, worker)
        await desk.hand_over([last])
        desk.settle(last)
        await desk.settler.is_idle.wait()

        status, why = await row(conn, refused.id, "status, last_error")
        assert status == "held"
        assert why.startswith("outcome_unknown: sent, but this cannot be recorded: ")
        assert why in await make.scalar(conn, "SELECT mailqueue.why(%s)", refused.id)
        done = await make.rows(conn, "SELECT id, status FROM mailqueue.email_history ORDER BY id")
        assert done == [(one.id, "sent") for one in (*others, last)]
        for counter in (await counted(conn), await counted(conn, refused.assigned_to)):
            assert (counter.sent, counter.reserved) == (4, 0)
        events = "SELECT email_id FROM mailqueue.email_events WHERE type = 'held'"
        assert await make.rows(conn, events) == [(refused.id,)]
        assert await difference(conn) == 0
