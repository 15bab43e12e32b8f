"""Templates of the platform in the console: written, copied to a project, each act once."""

from html import unescape

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.templates import versions, writing
from mailqueue.templates.model import NewText, TemplateRow
from mailqueue.web.security_headers import MAIL_POLICY
from tests import make
from tests.console.visiting import Visiting, Visitor
from tests.templates.making import published

pytestmark = pytest.mark.anyio

PLATFORM = "/console/templates"
HOSTILE = "<script>alert(1)</script><p onclick='x()'>Hi {{ name }}</p>"


async def superadmin(console: Visiting, visitor: Visitor) -> None:
    await console.add_user("ann")
    assert (await visitor.log_in("ann")).status_code == 303


async def found(conn: Conn, slug: str = "otp") -> TemplateRow:
    return await writing.find(conn, None, slug=slug)


async def test_a_platform_template_is_created_written_published_copied_and_deleted(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        await superadmin(console, visitor)
        assert "No template yet" in (await visitor.get(PLATFORM)).text
        made = await visitor.submit(f"{PLATFORM}/new", f"{PLATFORM}/new", slug="otp", name="Code")
        one = f"{PLATFORM}/{(await found(conn)).id}"
        assert made.headers["location"] == f"{one}?done=created"

        text = {"subject": "Your code", "html_body": "<p>\r\n{{ code }}</p>"}
        await visitor.submit(f"{one}/version", f"{one}/version", **text)
        shown = await visitor.get(f"{one}/preview?variables=%7B%22code%22%3A%22%3C12%22%7D")
        assert "Your code" in shown.text
        assert "&lt;12" in shown.text
        framed = await visitor.get(
            f"{one}/preview/html?version=1&variables=%7B%22code%22%3A%22%3C12%22%7D"
        )
        assert framed.text.startswith("<p>\n&lt;12</p>")

        await visitor.submit(f"{one}/versions/1/publish", f"{one}/versions/1/publish")
        assert (await found(conn)).published == 1
        project = await make.project(conn, "shop")
        await visitor.submit(f"{one}/copy", f"{one}/copy", to="shop")
        copy = await writing.find(conn, project, slug="otp")
        assert (copy.project_id, copy.published) == (project, 1)

        again = await visitor.get(f"{one}/version")
        assert unescape(again.text).count("Your code") == 1, "a version begins with the newest"
        await visitor.submit(
            f"{one}/change", f"{one}/change", name="One-time code", category="x", language="en"
        )
        assert (await found(conn)).name == "One-time code"
        await visitor.submit(f"{one}/versions/1/archive", f"{one}/versions/1/archive")
        assert (await found(conn)).published is None
        gone = await visitor.submit(f"{one}/remove", f"{one}/remove")
        assert gone.headers["location"] == f"{PLATFORM}?done=removed"
        assert (await visitor.get(one)).status_code == 404
        actions = await make.rows(
            conn, "SELECT actor, action FROM mailqueue.audit_events WHERE action LIKE 'template%%'"
        )
    assert {actor for actor, _ in actions} == {"ann (console)"}
    assert {action for _, action in actions} == {
        "template.created",
        "template.version_created",
        "template.published",
        "template.changed",
        "template.archived",
        "template.deleted",
    }


async def test_what_was_typed_stays_with_what_is_wrong_at_its_field(console: Visiting) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        await superadmin(console, visitor)
        await published(conn, None, slug="otp")
        one = f"{PLATFORM}/{(await found(conn)).id}"
        for path, fields, field, why in (
            ("/new", {"slug": "No slug"}, "slug", "is not a slug"),
            ("/new", {"slug": "otp"}, "slug", "there is a template otp already"),
            ("/new", {"slug": "ok", "language": "?"}, "language", "is not a language tag"),
            ("/version", {"subject": "", "text_body": "typed"}, "subject", "is needed"),
            ("/version", {"subject": "s"}, "html_body", "needs an HTML body or a text body"),
            ("/version", {"subject": "s", "html_body": "a\n{% if"}, "html_body", "line 2"),
            (
                "/version",
                {"subject": "s", "text_body": "t", "variables_schema": "[]"},
                "variables_schema",
                "must be a JSON object",
            ),
            ("/change", {"name": "", "category": "c", "language": "en"}, "name", "is needed"),
            ("/change", {"name": "n", "category": "C!", "language": "en"}, "category", "category"),
            ("/copy", {"to": "nowhere"}, "to", "no project nowhere"),
        ):
            page = PLATFORM + path if path == "/new" else one + path
            given = await visitor.submit(page, page, **fields)
            text = unescape(given.text)
            assert given.status_code == 422, (path, fields)
            assert f'id="fault-{field}"' in text, (path, fields)
            assert why.lower() in text.lower(), (path, fields)
            for typed in fields.values():
                assert typed in text, (path, typed)
        listed = await writing.list_all(conn, None)
        kept = await versions.list_all(conn, await found(conn))
    assert ([each.slug for each in listed], len(kept)) == (["otp"], 1)


async def test_details_that_another_changed_meanwhile_are_not_overwritten(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        await superadmin(console, visitor)
        await published(conn, None, slug="otp")
        template = await found(conn)
        path = f"{PLATFORM}/{template.id}/change"
        form = await visitor.form(path, path)
        await writing.change(conn, template, changes={"name": "Theirs"}, by="tests")
        typed = {"name": "Mine", "category": template.category, "language": "en"}
        refused = await visitor.post(path, form | typed)
        kept = await found(conn)
        saved = await visitor.submit(path, path, **typed)

    assert (refused.status_code, "It was changed meanwhile" in refused.text) == (422, True)
    assert 'value="Mine"' in refused.text
    assert (kept.name, kept.description) == ("Theirs", template.description)
    assert saved.status_code == 303


async def test_a_form_that_is_sent_twice_acts_once(console: Visiting) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        await superadmin(console, visitor)
        await published(conn, None, slug="otp")
        one = f"{PLATFORM}/{(await found(conn)).id}"
        form = await visitor.form(f"{one}/version", f"{one}/version")
        text = {"subject": "s", "text_body": "t"}
        first = await visitor.post(f"{one}/version", form | text)
        again = await visitor.post(f"{one}/version", form | text)

        assert first.headers["location"].endswith("done=version")
        assert again.headers["location"].endswith("done=before")
        assert (await found(conn)).newest == 2


async def test_a_new_version_keeps_the_texts_in_other_languages(console: Visiting) -> None:
    words = {"": NewText("Hello", None, "Hello"), "de": NewText("Hallo", None, "Hallo")}
    async with console.visitor() as visitor, console.connection() as conn:
        await superadmin(console, visitor)
        template = await published(conn, None, slug="otp", words=words)
        one = f"{PLATFORM}/{template.id}"
        await visitor.submit(f"{one}/version", f"{one}/version", subject="Hi", text_body="Hi")
        version = await versions.find(conn, template, number=2)
        texts = await versions.texts_of(conn, version)

    assert {text.language: text.subject for text in texts} == {"en": "Hi", "de": "Hallo"}


async def test_a_hostile_template_runs_nothing_in_its_preview(console: Visiting) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        await superadmin(console, visitor)
        template = await published(conn, None, slug="otp", words=NewText("s", HOSTILE, None))
        one = f"{PLATFORM}/{template.id}/preview"
        page = await visitor.get(f"{one}?variables=%7B%22name%22%3A%22x%22%7D")
        framed = await visitor.get(f"{one}/html?variables=%7B%22name%22%3A%22x%22%7D")
        missing = await visitor.get(f"{one}/html")
        refused = await visitor.get(f"{one}?variables=%3Cb%3E")

    assert "<script>alert" not in page.text
    assert framed.headers["content-security-policy"] == MAIL_POLICY
    assert framed.headers["x-frame-options"] == "SAMEORIGIN"
    assert "<p" not in missing.text
    assert missing.headers["content-security-policy"] == MAIL_POLICY
    assert 'id="fault-variables"' in refused.text
