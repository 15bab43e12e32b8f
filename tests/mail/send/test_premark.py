"""Window: a mark made by a claim is used once, soon, and only while no other mark is made."""

import asyncio

import pytest

from mailqueue.mail.model import ClaimedEmail, Marks
from mailqueue.mail.send import settler
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.send.test_settler import INTENTS, claimed_mail, writing

pytestmark = pytest.mark.anyio


def premarked(email: ClaimedEmail) -> settler.PremarkedEmail:
    """Return an email that its claim has just marked."""
    now = asyncio.get_running_loop().time()
    return settler.PremarkedEmail((email.id, email.claim_no), Marks({}), now)


async def test_a_mark_made_in_a_claim_is_not_made_again(database: DatabaseSettings) -> None:
    async with (
        claimed_mail(database, 2) as (_, worker, mails),
        writing(database, worker, slots=4) as desk,
    ):
        desk.settler.premarked = premarked(mails[0])
        await desk.hand_over(mails[:1])
        assert desk.link.calls == 0
        assert desk.slots.in_use == 1

        await desk.hand_over(mails[1:])  # names the first as one that is open
        assert desk.link.calls == 1
        desk.settle(*mails)
        await desk.settler.is_idle.wait()
        assert desk.slots.in_use == 0


@pytest.mark.parametrize("is_late", [True, False])
async def test_a_mark_made_in_a_claim_is_made_again_if_it_is_old_or_others_are_marked(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch, *, is_late: bool
) -> None:
    """Window: other marks have replaced it."""
    if is_late:
        monkeypatch.setattr(settler, "PREMARK_SECONDS", -1.0)
    async with (
        claimed_mail(database, 2) as (conn, worker, mails),
        writing(database, worker, slots=4) as desk,
    ):
        desk.settler.premarked = premarked(mails[0])
        if not is_late:
            await desk.hand_over(mails[1:])
        await desk.hand_over(mails[:1])

        marked = await make.scalar(conn, INTENTS, worker)
        assert set(marked) == {mail.id for mail in (mails[:1] if is_late else mails)}
