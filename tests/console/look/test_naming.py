"""A page with a form says in its title, its heading and its button what it changes."""

import re
from collections.abc import Sequence
from html import unescape

import pytest

from mailqueue.console.frame.page import Access
from mailqueue.console.table import PAGES
from tests.console.examples import path_of, seed
from tests.console.test_accessible import NO_PAGES
from tests.console.visiting import Visiting

pytestmark = pytest.mark.anyio

_FORM = re.compile(r'<form[^>]* method="post".*?</form>', re.DOTALL)
_LOUD = re.compile(r'<button class="main[^"]*"[^>]*>(.*?)</button>', re.DOTALL)
_HEADING = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)
_NAME = re.compile(r"<bdi>(.*?)</bdi>", re.DOTALL)
_TITLE = re.compile(r"<title>(.*?) – mailqueue</title>", re.DOTALL)
_OF_A_THING = re.compile(
    r"\{(?!project\})\w+\}/\w[^/]*$|\{project\}/suspend$|/recipient/\w+$|/pauses/end$"
)
"""Paths of what is done with one thing: it is in the path, or in the query."""


def text_of(html: str) -> str:
    """Return a fragment as it is read."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())


def loud_of(html: str) -> list[str]:
    """Return the words of the loud buttons of the forms of a page that change something."""
    return [text_of(words) for form in _FORM.findall(html) for words in _LOUD.findall(form)]


async def pages_with_loud_forms(
    console: Visiting, *, subject: str = "Your order", changed: str = ""
) -> Sequence[tuple[str, str]]:
    """Return path and HTML of the pages on which a superadmin can change something.

    `changed` are statements over what they show.
    """
    await console.add_user("ann")
    async with console.connection() as conn:
        values = await seed(conn, "shop", subject=subject)
        await conn.execute(changed.encode())
    found = []
    async with console.visitor() as visitor:
        await visitor.log_in("ann")
        for page in PAGES:
            if page.method != "GET" or page.access is Access.PUBLIC or page.path in NO_PAGES:
                continue
            response = await visitor.http.get(path_of(page.path, values), follow_redirects=True)
            if loud_of(response.text):
                found.append((page.path, response.text))
    return found


async def test_titles_headings_and_buttons_of_forms_name_what_is_changed(
    console: Visiting,
) -> None:
    pages = await pages_with_loud_forms(console)
    of_things = [(path, html) for path, html in pages if _OF_A_THING.search(path)]
    short = {
        (path, words) for path, html in pages for words in loud_of(html) if len(words.split()) < 2
    }
    nameless = set()
    for path, html in of_things:
        (heading,), (title,) = _HEADING.findall(html), _TITLE.findall(html)
        names = [text_of(name) for name in _NAME.findall(heading)]
        if not any(name in text_of(title) for name in names):
            nameless.add((path, text_of(heading), text_of(title)))

    assert len(pages) > 100
    assert len(of_things) > 60
    assert short == set()
    assert nameless == set()


async def test_long_and_hostile_names_are_shortened_escaped_and_isolated(
    console: Visiting,
) -> None:
    """The subject of a notification is that of an email from anywhere."""
    changed = """
        UPDATE mailqueue.notifications SET subject = U&'\\202e' || repeat('<script>', 120);
        UPDATE mailqueue.schedules
           SET name = NULL,
               message = message || jsonb_build_object('subject', repeat('<b>x</b>', 120));
        UPDATE mailqueue.webhooks SET description = NULL, url = url || '?' || repeat('x', 1900)
    """
    pages = await pages_with_loud_forms(console, subject="<script>x</script>", changed=changed)
    shown = [
        (path, [*_HEADING.findall(html), *_TITLE.findall(html)])
        for path, html in pages
        if _OF_A_THING.search(path)
    ]

    assert len(shown) > 60
    assert [path for path, words in shown if "\u202e" in words[0]] != []
    assert [path for path, words in shown if max(len(text_of(one)) for one in words) > 320] == []
    assert [path for path, words in shown if "<script" in "".join(words)] == []
    outside = [path for path, words in shown if "\u202e" in _NAME.sub("", words[0])]
    assert outside == []
