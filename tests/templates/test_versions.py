"""Templates and their versions: what can be changed, what cannot, and by whom."""

import pytest
from psycopg import errors

from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.templates import cloning, previews, versions, writing
from mailqueue.templates.model import NewTemplate, NewText, PartKind
from tests import make
from tests.templates.making import (
    CHAMBER,
    WELCOME,
    lending,
    published,
    put_in_force,
    version_of,
)

pytestmark = pytest.mark.anyio

STATES = "SELECT version, status FROM mailqueue.template_versions ORDER BY version"
AUDIT = """
    SELECT actor, action, subject FROM mailqueue.audit_events
    WHERE action LIKE 'template.%%' ORDER BY id
"""
STYLED = """<html><head><style>p { color: red } td { padding: 1px }</style></head><body>
<p class="{{ kind }}">{% if a > b %}x{% endif %}</p>
<table>{% for row in rows %}<tr><td>{{ row }}</td></tr>{% endfor %}</table>
</body></html>"""


async def test_one_version_is_published_and_the_one_before_is_archived(conn: Conn) -> None:
    project = await make.project_named(conn)
    template = await published(conn, project)
    await version_of(conn, template)
    third = await version_of(conn, template, NewText("Third", None, "x"))

    await put_in_force(conn, template, third)

    assert await make.rows(conn, STATES) == [(1, "archived"), (2, "draft"), (3, "published")]
    first = await versions.find(conn, template, number=1)
    await put_in_force(conn, template, first)
    assert (await versions.find(conn, template)).version == 1
    with pytest.raises(errors.UniqueViolation):
        await conn.execute("UPDATE mailqueue.template_versions SET status = 'published'")


async def test_everything_that_is_done_is_written_down(conn: Conn) -> None:
    project = await make.project_named(conn)
    template = await published(conn, project)
    await writing.change(conn, template, changes={"name": "Hello"}, by="ann")
    await versions.archive(conn, template, await versions.find(conn, template), by="bob")
    part = {"name": "foot", "kind": PartKind.PARTIAL, "source": "x"}
    await writing.put_part(conn, project, **part, by="cy")  # type: ignore[arg-type]
    await writing.remove_part(conn, project, name="foot", by="cy")
    await writing.remove(conn, template, by="dee")

    assert await make.rows(conn, AUDIT) == [
        ("test", "template.created", "welcome"),
        ("test", "template.version_created", "welcome"),
        ("test", "template.published", "welcome"),
        ("ann", "template.changed", "welcome"),
        ("bob", "template.archived", "welcome"),
        ("cy", "template.part_put", "foot"),
        ("cy", "template.part_deleted", "foot"),
        ("dee", "template.deleted", "welcome"),
    ]


async def test_a_slug_is_taken_once_in_a_project_and_free_again_when_deleted(conn: Conn) -> None:
    project = await make.project_named(conn)
    other = await make.project(conn)
    first = await published(conn, project)
    await published(conn, other)
    await published(conn, None)

    with pytest.raises(Conflict, match="there is a template welcome already"):
        async with conn.transaction():
            await writing.create(conn, project, new=NewTemplate("welcome"), by="test")
    await writing.remove(conn, first, by="test")
    again = await writing.create(conn, project, new=NewTemplate("welcome"), by="test")

    assert again.id != first.id
    with pytest.raises(NotFound):
        await writing.remove(conn, first, by="test")


@pytest.mark.parametrize(
    ("new", "field"),
    [
        (NewTemplate("Not A Slug"), "slug"),
        (NewTemplate(""), "slug"),
        (NewTemplate("x" * 101), "slug"),
        (NewTemplate("x", name="n" * 201), "name"),
        (NewTemplate("x", name="a\x07b"), "name"),
        (NewTemplate("x", description="d" * 2001), "description"),
        (NewTemplate("x", category="No Word"), "category"),
        (NewTemplate("x", language="german"), "language"),
    ],
)
async def test_what_a_template_cannot_be_called_is_refused(
    conn: Conn, new: NewTemplate, field: str
) -> None:
    with pytest.raises(InvalidField) as caught:
        await writing.create(conn, await make.project_named(conn), new=new, by="test")

    assert caught.value.field == field


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (NewText("", None, "x"), "subject"),
        (NewText("two\nlines", None, "x"), "subject"),
        (NewText("x"), "template"),
        (NewText("x", "{{ a"), "html_body"),
        (NewText("x", None, "{% endfor %}"), "text_body"),
        (NewText("{% if %}", None, "x"), "subject"),
        (NewText("x", None, "nul \0"), "text_body"),
        (NewText("x", "\ud800"), "html_body"),
        ({"de": NewText("x", None, "x")}, "language"),
    ],
)
async def test_words_that_cannot_be_a_version_are_refused(
    conn: Conn, words: NewText | dict[str, NewText], field: str
) -> None:
    project = await make.project_named(conn)
    template = await writing.create(conn, project, new=NewTemplate("x"), by="test")

    with pytest.raises(InvalidField) as caught:
        await version_of(conn, template, words)

    assert caught.value.field == field


async def test_css_is_inlined_when_published_and_what_was_written_stays(conn: Conn) -> None:
    template = await published(
        conn,
        await make.project_named(conn),
        words=NewText("s", STYLED, "t"),
        is_css_inlined=True,
    )

    (text,) = await versions.texts_of(conn, await versions.find(conn, template))

    assert text.html_body == STYLED
    assert text.sent_html is not None
    assert '<p class="{{ kind }}" style="color: red;">{% if a > b %}x{% endif %}</p>' in (
        text.sent_html
    )
    row = '{% for row in rows %}<tr><td style="padding: 1px;">{{ row }}</td></tr>{% endfor %}'
    assert f"<table>{row}</table>" in text.sent_html


async def test_css_of_a_body_that_extends_a_layout_is_refused(conn: Conn) -> None:
    project = await make.project_named(conn)
    layout = {"name": "base", "kind": PartKind.LAYOUT, "source": "{% block b %}{% endblock %}"}
    await writing.put_part(conn, project, **layout, by="test")  # type: ignore[arg-type]
    words = NewText("s", "{% extends 'base' %}{% block b %}x{% endblock %}")

    with pytest.raises(
        InvalidField, match="CSS cannot be inlined in a template that extends a layout"
    ):
        await published(conn, project, words=words, is_css_inlined=True)


async def test_a_copy_is_published_and_owes_nothing_to_what_it_was_copied_from(conn: Conn) -> None:
    project, other = await make.project_named(conn), await make.project(conn)
    template = await published(conn, None, variables_schema={"required": ["name"]})
    with pytest.raises(NotFound, match="clone the platform's template first"):
        await writing.find_own(conn, project, slug="welcome")

    copy = await cloning.clone(conn, template, to=other, by="test")
    await writing.remove(conn, template, by="test")

    version = await versions.find(conn, copy)
    (text,) = await versions.texts_of(conn, version)
    assert (copy.project_id, copy.slug, copy.published) == (other, "welcome", 1)
    assert version.variables_schema == {"required": ["name"]}
    assert (text.subject, text.needs) == (WELCOME.subject, ["name"])


async def test_a_copy_of_nothing_published_leaves_nothing_behind(conn: Conn) -> None:
    project = await make.project_named(conn)
    draft = await writing.create(conn, project, new=NewTemplate("draft"), by="test")
    await version_of(conn, draft)

    with pytest.raises(NotFound):
        await cloning.clone(conn, draft, to=project, slug="copy", by="test")

    assert [one.slug for one in await writing.list_all(conn, project)] == ["draft"]


async def test_a_diff_shows_what_two_versions_say_differently(conn: Conn) -> None:
    template = await published(conn, await make.project_named(conn))
    old = await versions.find(conn, template)
    new = await version_of(conn, template, NewText("Welcome, {{ name }}", "<p>Hi</p>", None))

    found = await previews.diff(lending(conn), CHAMBER, template, old, new)

    assert found == (
        "--- welcome@1/html\n+++ welcome@2/html\n@@ -1 +1 @@\n"
        "-<p>Hello {{ name }}</p>\n+<p>Hi</p>\n"
        "--- welcome@1/text\n+++ welcome@2/text\n@@ -1 +0,0 @@\n-Hello {{ name }}\n"
    )
    with pytest.raises(InvalidField, match="version 1 has no text in de"):
        await previews.diff(lending(conn), CHAMBER, template, old, new, language="de")
