"""A project's own texts on the pages of its recipients, whatever tenants have written there."""

import json
import re
from collections.abc import AsyncIterator, Mapping

import pytest

from mailqueue.projects import manage
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.suppression.wording.texts import REPLACEABLE
from tests import make
from tests.api.support.recipient_links import ONE_CLICK, Leaving, leaving
from tests.contacts import people
from tests.contacts.confirming import asked_link

pytestmark = pytest.mark.anyio

KEPT = "SELECT confirm_wording FROM mailqueue.contact_list_members"


@pytest.fixture
async def shop(database: DatabaseSettings) -> AsyncIterator[Leaving]:
    async with leaving(database) as made:
        yield made


async def write(shop: Leaving, texts: Mapping[str, Mapping[str, str]]) -> None:
    await manage.change(shop.conn, "shop", changes={"page_texts": texts}, by="ann")


async def forced(shop: Leaving, texts: object) -> None:
    """Store texts as no function would take them."""
    await shop.conn.execute(
        "UPDATE mailqueue.projects SET page_texts = %s WHERE name = 'shop'", (json.dumps(texts),)
    )


async def test_own_texts_stand_in_the_place_of_the_built_in_ones(shop: Leaving) -> None:
    await write(
        shop,
        {
            "en": {
                "intro": "What may <b>{project}</b> send?",
                "goes_on": "Invoices & co. still come.",
                "question_all": "No news from {project}?",
                "done_all": "Gone: {project}.",
                "done_title": "Goodbye",
            }
        },
    )
    link, pref = await shop.link_to("a@x.example"), await shop.preferences_of("a@x.example")
    asked, centre = await shop.http.get(link), await shop.http.get(pref)
    german = await shop.http.get(f"{pref}?lang=de")
    done = await shop.http.post(link, data={"action": "unsubscribe", "scope": "all"})
    clicked = await shop.http.post(link, data=ONE_CLICK)
    nowhere = await shop.http.get("/pref/nothing")

    name = "<bdi>The Shop &amp; Co</bdi>"
    assert f"<p>What may &lt;b&gt;{name}&lt;/b&gt; send?</p>" in centre.text
    assert "Invoices &amp; co. still come." in asked.text
    assert "Choose what" not in centre.text
    assert "Wählen Sie" in german.text or "Wähle" in german.text, "the others are built in"
    assert "Goodbye" in done.text
    assert f"Gone: {name}." in done.text
    assert clicked.text == "Goodbye\n"
    assert "This link no longer works" in nowhere.text


async def test_every_text_of_a_project_is_shown_somewhere(shop: Leaving) -> None:
    own = {name: f"OWN-{name}." for name in REPLACEABLE}
    await write(shop, {"en": own})
    await people.list_of(shop.conn, shop.project_id, "monthly", opt_in="confirmed")
    await shop.category("news")
    await make.inserted(
        shop.conn,
        "suppressions",
        {"project_id": shop.project_id, "address": "s@x.example", "reason": "hard_bounce"},
    )
    link, news = await shop.link_to("a@x.example"), await shop.link_to("b@x.example", "news")
    ask = await asked_link(shop, "c@x.example", name="monthly")
    late = await asked_link(shop, "d@x.example", name="monthly")
    pref = await shop.preferences_of("a@x.example")
    pages = [
        await shop.http.get(link),
        await shop.http.get(news),
        await shop.http.get(await shop.link_to("a@x.example", "receipts")),
        await shop.http.get(await shop.link_to("a@x.example", "system")),
        await shop.http.post(news, data={"action": "unsubscribe", "scope": "category"}),
        await shop.http.post(link, data={"action": "unsubscribe", "scope": "all"}),
        await shop.http.get(pref),
        await shop.http.post(pref, data={"action": "save"}),
        await shop.http.post(link, data={"action": "subscribe"}),
        await shop.http.post(pref, data={"action": "leave"}),
        await shop.http.get(await shop.preferences_of("s@x.example")),
        await shop.http.get(pref),
        await shop.http.get(ask),
        await shop.http.post(ask, data={"action": "confirm"}),
    ]
    await shop.conn.execute(
        "UPDATE mailqueue.contact_list_members SET pending_until = now() WHERE is_pending"
    )
    pages.append(await shop.http.get(late))
    seen = set(re.findall(r"OWN-(\w+)\.", " ".join(page.text for page in pages)))

    assert seen == set(REPLACEABLE)


@pytest.mark.parametrize(
    "text",
    [
        "{project.__class__.__mro__}",
        "{project:>999999999}",
        "{0}{}{",
        "{{project}}",
        "<script>alert(1)</script>",
        "{unknown}",
        "%s %(project)s",
        "{{ 7 * 7 }} {% raw %}",
    ],
)
async def test_texts_that_no_function_took_break_no_page_and_run_nothing(
    shop: Leaving, text: str
) -> None:
    await forced(shop, {"en": dict.fromkeys((*REPLACEABLE, "unsubscribe", "date"), text)})
    link, pref = await shop.link_to("a@x.example"), await shop.preferences_of("a@x.example")

    answers = [
        await shop.http.get(link),
        await shop.http.post(link, data={"action": "unsubscribe", "scope": "all"}),
        await shop.http.get(pref),
    ]

    assert [one.status_code for one in answers] == [200, 200, 200]
    shown = text.partition("{project}")[0].replace("<", "&lt;").replace(">", "&gt;")
    assert shown.replace("'", "&#39;") in answers[0].text, "it is text, with its braces"
    for one in answers:
        assert "<script" not in one.text
        assert "class &#39;" not in one.text
    assert ">Unsubscribe</button>" in answers[0].text, "others are never replaced"


@pytest.mark.parametrize("texts", [{"en": []}, {"en": None}, {"en": {"intro": [7]}}, {"en": "x"}])
async def test_texts_of_another_form_are_the_built_in_ones(shop: Leaving, texts: object) -> None:
    await forced(shop, texts)

    answer = await shop.http.get(await shop.preferences_of("a@x.example"))

    assert (answer.status_code, "Choose what" in answer.text) == (200, True)


async def test_the_question_that_was_shown_is_the_one_that_is_kept(shop: Leaving) -> None:
    await people.list_of(
        shop.conn, shop.project_id, "monthly", opt_in="confirmed", description="Monthly {project}"
    )
    await write(
        shop, {"en": {"confirm_question": "May {project} write: {list}?", "confirm_yes": "It may"}}
    )
    link = await asked_link(shop, "a@x.example", name="monthly")

    page = await shop.http.get(link)
    await shop.http.post(link, data={"action": "confirm", "shown": shown_in(page.text)})

    assert "May <bdi>The Shop &amp; Co</bdi> write: <bdi>“Monthly {project}”</bdi>?" in page.text
    assert await make.rows(shop.conn, KEPT) == [
        ("May The Shop & Co write: “Monthly {project}”? It may",)
    ]


async def test_a_question_that_was_changed_meanwhile_is_asked_again(shop: Leaving) -> None:
    await people.list_of(shop.conn, shop.project_id, "monthly", opt_in="confirmed")
    link = await asked_link(shop, "a@x.example", name="monthly")
    page = await shop.http.get(link)
    await write(shop, {"en": {"confirm_question": "Another question of {project}: {list}"}})

    refused = await shop.http.post(link, data={"action": "confirm", "shown": shown_in(page.text)})
    nothing = await make.rows(shop.conn, KEPT)
    again = await shop.http.post(link, data={"action": "confirm", "shown": shown_in(refused.text)})
    [(wording,)] = await make.rows(shop.conn, KEPT)

    assert (refused.status_code, "Another question" in refused.text) == (409, True)
    assert nothing == [(None,)]
    assert (again.status_code, wording.startswith("Another question of The Shop")) == (200, True)


def shown_in(page: str) -> str:
    """Return the hash of the question in the form of a page."""
    [found] = re.findall(r'name="shown" value="([0-9a-f]{32})"', page)
    return str(found)
