"""The console's pages of a project's own texts: one language at a time, all or nothing."""

import re
from html import unescape

import pytest

from mailqueue.projects import manage as projects_manage
from mailqueue.suppression.wording.texts import REPLACEABLE, TEXTS
from tests.console.test_pages import logged_in
from tests.console.visiting import Visiting

pytestmark = pytest.mark.anyio

PATH = "/console/projects/default/settings/texts"
GERMAN = f"{PATH}/de"


def typed_of(page: str) -> dict[str, str]:
    """Return what the fields of a page hold."""
    found = re.findall(r'<textarea name="(\w+)"[^>]*>\n?([^<]*)</textarea>', page)
    return {name: unescape(text) for name, text in found}


async def stored(console: Visiting) -> object:
    async with console.connection() as conn:
        return (await projects_manage.find(conn, "default")).page_texts


async def test_texts_are_written_for_one_language_beside_the_built_in_ones(
    console: Visiting,
) -> None:
    async with console.connection() as conn:
        texts = {"page_texts": {"en": {"saved": "Saved."}}}
        await projects_manage.change(conn, "default", changes=texts, by="ann")
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        page = (await visitor.get(GERMAN)).text
        fields = await visitor.form(GERMAN, GERMAN)
        own = {"intro": "Post <von>\r\n{project}", "goes_on": "  Rechnungen  "}
        done = await visitor.post(GERMAN, fields | own)
        listed = (await visitor.get(done.headers["location"])).text
        filled = (await visitor.get(GERMAN)).text
        twice = await visitor.post(GERMAN, fields | own)
        settings = (await visitor.get("/console/projects/default/settings")).text
        kept = await stored(console)
        same = await visitor.post(GERMAN, await visitor.form(GERMAN, GERMAN) | typed_of(filled))
        emptied = await visitor.post(GERMAN, await visitor.form(GERMAN, GERMAN))

    assert typed_of(page) == dict.fromkeys(REPLACEABLE, "")
    for name in REPLACEABLE:
        assert TEXTS["de"][name] in unescape(page), "the built-in text is the hint"
    assert done.headers["location"] == f"{PATH}?done=changed"
    assert kept == {
        "en": {"saved": "Saved."},
        "de": {"intro": "Post <von> {project}", "goes_on": "Rechnungen"},
    }
    assert "Post &lt;von&gt; {project}" in listed
    assert typed_of(filled)["intro"] == "Post <von> {project}"
    assert twice.headers["location"] == f"{PATH}?done=before"
    assert "texts of the project itself in: de, en." in settings
    assert same.headers["location"] == f"{PATH}?done=same"
    assert emptied.headers["location"] == f"{PATH}?done=changed"
    assert await stored(console) == {"en": {"saved": "Saved."}}


@pytest.mark.parametrize(
    "text", ["{project.x}", "{list}", "{", "x" * 1001, "a\u202eb", "a\x07b", "\u200b"]
)
async def test_a_wrong_text_is_told_at_its_field_and_stores_nothing(
    console: Visiting, text: str
) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        fields = await visitor.form(GERMAN, GERMAN)
        answer = await visitor.post(GERMAN, fields | {"intro": text, "saved": "Gut"})

    assert answer.status_code == 422
    assert 'id="fault-intro"' in answer.text
    assert typed_of(answer.text)["saved"] == "Gut"
    assert await stored(console) is None


async def test_texts_that_changed_meanwhile_are_not_overwritten(console: Visiting) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        await logged_in(console, visitor)
        fields = await visitor.form(GERMAN, GERMAN)
        texts = {"page_texts": {"de": {"intro": "Neu"}}}
        await projects_manage.change(conn, "default", changes=texts, by="ann")
        answer = await visitor.post(GERMAN, fields | {"intro": "Alt"})

    assert (answer.status_code, typed_of(answer.text)["intro"]) == (409, "Alt")
    assert await stored(console) == texts["page_texts"]


async def test_all_texts_of_the_greatest_length_fit_into_the_form(console: Visiting) -> None:
    longest = dict.fromkeys(REPLACEABLE, "ש" * 1000)
    longest |= dict.fromkeys(("confirm_question", "confirm_yes"), "ש" * 500)
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        fields = await visitor.form(f"{PATH}/he", f"{PATH}/he")
        answer = await visitor.post(f"{PATH}/he", fields | longest)

    assert answer.headers["location"] == f"{PATH}?done=changed"
    assert await stored(console) == {"he": longest}


async def test_a_language_that_the_pages_are_not_in_is_not_found(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        answers = [await visitor.get(f"{PATH}/{tag}") for tag in ("xx", "DE", "..%2Fde")]

    assert [one.status_code for one in answers] == [404, 404, 404]
