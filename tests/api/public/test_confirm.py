"""The page behind the link of a mail that asks a contact to confirm."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from mailqueue.api.public.wording import WORDS
from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tracking.tokens import TokenKind
from tests import make
from tests.api.support.recipient_links import Leaving, leaving
from tests.contacts import people
from tests.contacts.confirming import asked_link

pytestmark = pytest.mark.anyio

PRESSED = {"action": "confirm"}


@pytest.fixture(scope="module")
async def shop(module_db: str) -> AsyncIterator[Leaving]:
    async with leaving(DatabaseSettings(Secret(module_db))) as made:
        await people.list_of(
            made.conn, made.project_id, opt_in="confirmed", description="Monthly news"
        )
        yield made


async def is_member(shop: Leaving, address: str) -> bool:
    query = (
        "SELECT NOT m.is_pending FROM mailqueue.contact_list_members AS m"
        " JOIN mailqueue.contacts AS c ON c.id = m.contact_id WHERE c.email = %s"
    )
    return bool(await make.scalar(shop.conn, query, address))


async def test_only_pressing_the_button_confirms_and_its_words_are_kept(shop: Leaving) -> None:
    who = f"{uuid4().hex[:12]}@example.com"
    link = await asked_link(shop, who)

    looked = [await shop.http.get(link), await shop.http.head(link)]
    strange = await shop.http.post(link, data={"List-Unsubscribe": "One-Click"})
    assert [one.status_code for one in looked] == [200, 200]
    assert "Monthly news" in looked[0].text
    assert strange.status_code == 400
    assert not await is_member(shop, who)

    done = await shop.http.post(link, data=PRESSED, headers={"User-Agent": "Firefox"})

    assert done.status_code == 200
    assert "Thank you" in done.text
    assert await is_member(shop, who)
    query = (
        "SELECT m.confirm_wording, m.confirm_agent FROM mailqueue.contact_list_members AS m"
        " JOIN mailqueue.contacts AS c ON c.id = m.contact_id WHERE c.email = %s"
    )
    [(wording, agent)] = await make.rows(shop.conn, query, who)
    assert wording.startswith("Do you want to receive this mail from")
    assert wording.endswith("Yes, I want it")
    assert agent == "Firefox"
    again = await shop.http.post(link, data=PRESSED)
    assert (again.status_code, "Thank you" in again.text) == (200, True)


async def test_every_language_has_its_own_page(shop: Leaving) -> None:
    link = await asked_link(shop, f"{uuid4().hex[:12]}@example.com")

    for tag, words in WORDS.items():
        shown = await shop.http.get(f"{link}?lang={tag}")
        assert shown.headers["content-language"] == tag
        assert words["confirm_yes"] in shown.text


async def test_late_foreign_and_other_links_confirm_nothing(shop: Leaving) -> None:
    who = f"{uuid4().hex[:12]}@example.com"
    link = await asked_link(shop, who)
    await shop.conn.execute("UPDATE mailqueue.contact_list_members SET pending_until = now()")

    late = await shop.http.post(link, data=PRESSED)
    other = await shop.http.post(await shop.link(uuid4(), TokenKind.CONFIRM), data=PRESSED)
    mail = await shop.mail(who)
    unasked = await shop.http.post(await shop.link(mail, TokenKind.CONFIRM), data=PRESSED)
    forged = await shop.http.post(link[:-2] + "AA", data=PRESSED)
    preferences = (await shop.link(mail, TokenKind.PREFERENCES)).replace("/pref/", "/confirm/")
    wrong = await shop.http.post(preferences, data=PRESSED)

    assert (late.status_code, "time to confirm is over" in late.text) == (410, True)
    found = [one.status_code for one in (other, unasked, forged, wrong)]
    assert found == [404, 404, 404, 404]
    assert not await is_member(shop, who)
