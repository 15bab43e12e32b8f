"""The preference centre: choices take effect at once, and are shown in the recipient's language."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from mailqueue.api.public.rendering import brand_of
from mailqueue.api.public.wording import WORDS, words_for
from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.recipient_links import Leaving, leaving

pytestmark = pytest.mark.anyio
TODAY = datetime.now(UTC).date


@pytest.fixture(scope="module")
async def shop(module_db: str) -> AsyncIterator[Leaving]:
    async with leaving(DatabaseSettings(Secret(module_db))) as made:
        words = {"de": {"name": "Neues", "description": "Einmal im Monat <b>neu</b>."}}
        await made.category("news", translations=words, place=1)
        await made.category("tips", place=2)
        await made.category("receipts", is_required=True)
        yield made


def somebody() -> str:
    return f"{uuid4().hex[:12]}@example.com"


def in_days(days: int) -> str:
    return (TODAY() + timedelta(days=days)).isoformat()


def checked(page: str) -> dict[str, str]:
    """Return the selected choice of each category on a page."""
    found = re.findall(r'name="category\.([a-z-]+)" value="([a-z]+)" checked', page)
    assert len(dict(found)) == len(found)
    return dict(found)


async def test_each_category_is_chosen_alone(shop: Leaving) -> None:
    who = somebody()
    link = await shop.preferences_of(who, "news")
    assert checked((await shop.http.get(link)).text) == {"news": "on", "tips": "on"}

    answer = await shop.http.post(link, data={"category.news": "off", "category.tips": "on"})

    assert (answer.status_code, checked(answer.text)) == (200, {"news": "off", "tips": "on"})
    assert [await shop.gets(who, one) for one in ("news", "tips")] == [False, True]
    assert await shop.gets(who, "receipts")


async def test_a_pause_ends_by_itself(shop: Leaving) -> None:
    who = somebody()
    link = await shop.preferences_of(who, "news")

    answer = await shop.http.post(
        link, data={"category.news": "paused", "until.news": in_days(10), "category.tips": "on"}
    )

    assert checked(answer.text) == {"news": "paused", "tips": "on"}
    assert not await shop.gets(who, "news")
    until = await make.scalar(
        shop.conn,
        "SELECT expires_at::date::text FROM mailqueue.suppressions"
        " WHERE address = %s AND reason = 'paused'",
        who,
    )
    assert until == in_days(10)
    await shop.conn.execute(
        "UPDATE mailqueue.suppressions SET expires_at = now() WHERE address = %s", (who,)
    )
    assert await shop.gets(who, "news")
    assert checked((await shop.http.get(link)).text) == {"news": "on", "tips": "on"}
    await shop.http.post(link, data={"category.news": "paused", "until.news": in_days(3)})
    assert not await shop.gets(who, "news")


@pytest.mark.parametrize("until", ["", "soon", in_days(0), in_days(-1), in_days(400)])
async def test_a_day_that_cannot_be_is_told_and_nothing_is_saved(shop: Leaving, until: str) -> None:
    link = await shop.preferences_of(somebody(), "news")
    before = await shop.state()

    answer = await shop.http.post(
        link, data={"category.news": "paused", "until.news": until, "category.tips": "off"}
    )

    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert checked(answer.text) == {"news": "paused", "tips": "off"}
    assert await shop.state() == before


async def test_leaving_everything_and_taking_one_thing_back(shop: Leaving) -> None:
    who = somebody()
    link = await shop.preferences_of(who, "news")

    left = await shop.http.post(link, data={"action": "leave"})
    assert checked(left.text) == {"news": "off", "tips": "off"}
    assert [await shop.gets(who, one) for one in ("news", "tips", "marketing")] == [False] * 3

    back = await shop.http.post(link, data={"category.news": "off", "category.tips": "on"})

    assert checked(back.text) == {"news": "off", "tips": "on"}
    assert [await shop.gets(who, one) for one in ("news", "tips")] == [False, True]


async def test_required_categories_cannot_be_unsubscribed_from(shop: Leaving) -> None:
    who = somebody()

    answer = await shop.http.post(
        await shop.preferences_of(who),
        data={"category.receipts": "off", "category.transactional": "off", "category.": "off"},
    )

    assert answer.status_code == 200
    assert [await shop.gets(who, one) for one in ("receipts", "transactional")] == [True, True]


async def test_what_a_form_does_not_name_stays(shop: Leaving) -> None:
    """A category may have been added since the page was shown."""
    who = somebody()
    link = await shop.preferences_of(who, "news")
    await shop.http.post(link, data={"category.news": "off"})

    await shop.http.post(link, data={"category.tips": "off"})

    assert [await shop.gets(who, one) for one in ("news", "tips")] == [False, False]


async def test_why_nothing_comes_is_said_where_it_is_not_their_doing(shop: Leaving) -> None:
    who = somebody()
    link = await shop.preferences_of(who, "news")
    await shop.conn.execute(
        "SELECT mailqueue.suppress(%s, %s, '', 'manual', 'asked by phone')", (shop.project_id, who)
    )

    page = (await shop.http.get(link)).text

    assert "No mail goes to this address at present" in page
    assert "asked by phone" not in page


async def test_it_speaks_the_readers_language(shop: Leaving) -> None:
    link = await shop.preferences_of(somebody(), "news")

    german = await shop.http.get(link, headers={"Accept-Language": "xx, de-AT;q=0.9, en;q=0.8"})
    chosen = await shop.http.get(link + "?lang=fr", headers={"Accept-Language": "de"})

    assert '<html lang="de" dir="ltr">' in german.text
    assert german.headers["content-language"] == "de"
    assert "<legend>Neues</legend>" in german.text
    assert "Einmal im Monat &lt;b&gt;neu&lt;/b&gt;." in german.text
    assert '<html lang="fr" dir="ltr">' in chosen.text
    assert 'action="?lang=fr"' in chosen.text


@pytest.mark.parametrize(
    ("chosen", "accepted", "of_mail", "tag"),
    [
        (None, "", None, "en"),
        (None, "", "de-CH", "de"),
        (None, "fr;q=0, es;q=0.1, *;q=0.5", "de", "es"),
        ("it", "fr", "de", "it"),
        ("../../x", "q=;;,,;q=x", "tlh", "en"),
        (None, "pt-BR,pt;q=0.9", None, "pt"),
    ],
)
def test_a_language_is_chosen(
    chosen: str | None, accepted: str, of_mail: str | None, tag: str
) -> None:
    assert words_for(chosen=chosen, accepted=accepted, of_mail=of_mail).tag == tag


def test_every_language_says_everything() -> None:
    names = {frozenset(one.texts) for one in WORDS.values()}
    slots = [
        {name: re.findall(r"{(\w+)}", str(text)) for name, text in one.texts.items()}
        for one in WORDS.values()
    ]

    assert len(names) == 1
    assert len(WORDS) >= 10
    assert all(len(one.texts["months"]) == 12 for one in WORDS.values())
    assert {tag for tag, one in WORDS.items() if one.direction == "rtl"} == {"ar", "he"}
    for name in slots[0]:
        assert {tuple(sorted(set(one[name]))) for one in slots} == {
            tuple(sorted(set(slots[0][name])))
        }, name


def test_words_on_a_projects_colour_can_be_read() -> None:
    """WCAG 2.2, 1.4.3: at least 4.5 to 1."""
    for color in ("#000000", "#ffffff", "#777777", "#ff0000", "#00ff00", "#ffcc00", "#767676"):
        brand = brand_of(color)
        bright, dark = sorted((_luminance(brand.color), _luminance(brand.on_color)), reverse=True)
        assert (bright + 0.05) / (dark + 0.05) >= 4.5


def _luminance(color: str) -> float:
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
