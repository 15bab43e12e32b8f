"""Layouts and partials in the console: those of a project and of the platform, each act once."""

from html import unescape
from urllib.parse import quote
from uuid import UUID

import pytest

from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.templates import versions, writing
from mailqueue.templates.model import PartKind, PartRow
from tests import make
from tests.console.visiting import Visiting
from tests.templates.making import published

pytestmark = pytest.mark.anyio

SHOP = "/console/projects/shop/templates"
PLATFORM = "/console/templates"
LAYOUT = "<main>{% block content %}{% endblock %}</main>"


async def parts_of(conn: Conn, project: UUID | None) -> list[PartRow]:
    return [each for each in await writing.list_parts(conn, project) if each.project_id == project]


@pytest.mark.parametrize("own", [SHOP, PLATFORM])
async def test_a_layout_is_created_used_by_a_version_changed_and_deleted(
    console: Visiting, own: str
) -> None:
    parts = f"{own}/parts"
    async with console.visitor() as visitor, console.connection() as conn:
        shop = await make.project(conn, "shop")
        project = shop if own == SHOP else None
        await console.add_user("ann")
        await visitor.log_in("ann")
        empty = (await visitor.get(parts)).text
        given = {"name": "base", "kind": "layout", "source": LAYOUT.replace("<main>", "<main>\r\n")}
        form = await visitor.form(f"{parts}/new", f"{parts}/new")
        made = await visitor.post(f"{parts}/new", form | given)
        again = await visitor.post(f"{parts}/new", form | given)
        taken = await visitor.submit(f"{parts}/new", f"{parts}/new", **given)
        ((part),) = await parts_of(conn, project)
        one = f"{parts}/{part.id}"
        arrived = (await visitor.get(made.headers["location"])).text
        template = await published(conn, project, slug="otp")
        body = '{% extends "base" %}{% block content %}Hi{% endblock %}'
        path = f"{own}/{template.id}/version"
        await visitor.submit(path, path, subject="s", html_body=body)
        texts = await versions.texts_of(conn, await versions.find(conn, template, number=2))
        await visitor.submit(f"{one}/change", f"{one}/change", kind="layout", source="<b></b>")
        (changed,) = await parts_of(conn, project)
        gone = await visitor.submit(f"{one}/remove", f"{one}/remove")
        left = await parts_of(conn, project)
        kept = await versions.texts_of(conn, await versions.find(conn, template, number=2))
        actions = await make.rows(
            conn,
            "SELECT DISTINCT actor, project_id, action FROM mailqueue.audit_events"
            " WHERE action LIKE 'template_part%%' ORDER BY action",
        )

    source = LAYOUT.replace("<main>", "<main>\n")
    assert "None yet." in empty
    assert (part.name, part.kind, part.source) == ("base", PartKind.LAYOUT, source)
    assert again.headers["location"].endswith("done=before")
    assert (taken.status_code, 'id="fault-name"' in taken.text) == (422, True)
    assert '{% extends "base" %}' in unescape(arrived)
    assert (texts[0].parts, kept[0].parts) == ({"base": source}, {"base": source})
    assert changed.source == "<b></b>"
    assert (gone.headers["location"], left) == (f"{parts}?done=removed", [])
    assert {(actor, owner) for actor, owner, _ in actions} == {("ann (console)", project)}


async def test_a_project_reads_the_parts_of_the_platform_and_writes_only_its_own(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        for name in ("shop", "blog"):
            project = await make.project(conn, name)
        for owner, name in ((None, "shared"), (project, "theirs")):
            await writing.put_part(
                conn, owner, name=name, kind=PartKind.PARTIAL, source="<p>x</p>", by="tests"
            )
        (shared,), (theirs,) = await parts_of(conn, None), await parts_of(conn, project)
        await console.add_user("ann", "project_admin", "shop")
        await visitor.log_in("ann")
        listed = (await visitor.get(f"{SHOP}/parts")).text
        shown = await visitor.get(f"{SHOP}/parts/{shared.id}")
        hidden = await visitor.get(f"{SHOP}/parts/{theirs.id}")
        refused = [
            (await visitor.post(path, {"token": visitor.token(path)} | typed)).status_code
            for path, typed in (
                (f"{SHOP}/parts/{shared.id}/change", {"kind": "layout", "source": "y"}),
                (f"{SHOP}/parts/{shared.id}/remove", {}),
            )
        ]
        platform = await visitor.get(f"{PLATFORM}/parts/{shared.id}")
        (kept,) = await parts_of(conn, None)

    assert ("shared" in listed, "theirs" in listed) == (True, False)
    assert (shown.status_code, "/change" in shown.text) == (200, False)
    assert (hidden.status_code, platform.status_code, refused) == (404, 403, [404, 404])
    assert kept.source == "<p>x</p>"


@pytest.mark.parametrize("piece", ["<p>{{ name }}</p>\n", "\N{PARTY POPPER}", "привет "])
async def test_a_source_of_the_longest_that_a_form_says_is_stored(
    console: Visiting, piece: str
) -> None:
    source = (piece * 50_000)[:49_999] + "x"
    async with console.visitor() as visitor, console.connection() as conn:
        shop = await make.project(conn, "shop")
        await console.add_user("ann", "project_admin", "shop")
        await visitor.log_in("ann")
        path = f"{SHOP}/parts/new"
        sent = source.replace("\n", "\r\n")
        made = await visitor.submit(path, path, name="long", source=sent)
        (part,) = await parts_of(conn, shop)
        change = f"{SHOP}/parts/{part.id}/change"
        saved = await visitor.submit(change, change, kind="layout", source=sent)
        (changed,) = await parts_of(conn, shop)

    assert (made.status_code, saved.status_code) == (303, 303)
    assert (part.source, changed.kind) == (source, PartKind.LAYOUT)


@pytest.mark.parametrize("own", [True, False])
async def test_layouts_and_partials_are_bounded_in_number_and_bytes(conn: Conn, own: bool) -> None:
    owner = await make.project(conn, "shop") if own else None
    other = await make.project(conn, "blog")

    async def put(name: str, source: str = "x", project: UUID | None = owner) -> None:
        async with conn.transaction():
            await writing.put_part(
                conn, project, name=name, kind=PartKind.PARTIAL, source=source, by="tests"
            )

    most = "я" * 524_288
    for n in range(8):
        await put(f"large{n}", most)
    with pytest.raises(InvalidField, match=r"^source: layouts and partials have at most 8 MiB"):
        await put("small")
    await put("large0", most)
    for n in range(8):
        await put(f"large{n}", "x")
    for n in range(192):
        await put(f"small{n}")
    with pytest.raises(InvalidField, match=r"^name: there are 200 layouts and partials"):
        await put("small")
    await put("small0", "changed")
    await put("small", project=other)
    assert len(await parts_of(conn, owner)) == 200


async def test_a_source_keeps_the_space_around_it(console: Visiting) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        shop = await make.project(conn, "shop")
        await console.add_user("ann", "project_admin", "shop")
        await visitor.log_in("ann")
        path = f"{SHOP}/parts/new"
        await visitor.submit(path, path, name=" signature ", source="\n  --\nAnn\n\n")
        (part,) = await parts_of(conn, shop)
        blank = await visitor.submit(path, path, name="blank", source=" \n")

    assert (part.name, part.source) == ("signature", "\n  --\nAnn\n\n")
    assert (blank.status_code, 'id="fault-source"' in blank.text) == (422, True)


async def test_the_list_reads_no_source(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    await writing.put_part(conn, shop, name="a", kind=PartKind.PARTIAL, source="x", by="tests")
    (listed,) = await writing.list_parts(conn, shop, with_sources=False)
    (read,) = await writing.list_parts(conn, shop)
    assert (listed.source, read.source, listed.id) == ("", "x", read.id)


async def test_a_form_beyond_its_bytes_is_refused_also_one_with_a_source(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        await make.project(conn, "shop")
        await console.add_user("ann", "project_admin", "shop")
        path = f"{SHOP}/parts/new"
        form = {"token": "x", "name": "long", "source": "x" * 70_000}
        unknown = await visitor.post(path, form)
        await visitor.log_in("ann")
        refused = await visitor.submit(path, path, name="long", source="x" * 1024 * 1024)

    assert (unknown.status_code, refused.status_code) == (413, 413)


async def test_a_session_that_ended_leads_back_to_the_form_of_a_long_source(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        await make.project(conn, "shop")
        path = f"{SHOP}/parts/new"
        ended = await visitor.post(path, {"name": "long", "source": "x" * 20_000})

    assert ended.headers["location"] == f"/console/login?next={quote(path, safe='')}"


async def test_a_source_that_no_form_holds_is_shown_without_one(console: Visiting) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        shop = await make.project(conn, "shop")
        source = "x" * 50_001
        await writing.put_part(
            conn, shop, name="long", kind=PartKind.PARTIAL, source=source, by="tests"
        )
        (part,) = await parts_of(conn, shop)
        await console.add_user("ann", "project_admin", "shop")
        await visitor.log_in("ann")
        shown = (await visitor.get(f"{SHOP}/parts/{part.id}")).text
        path = f"{SHOP}/parts/new"
        refused = await visitor.submit(path, path, name="other", source=source)

    assert (source in shown, f"/parts/{part.id}/change" in shown) == (True, False)
    assert "mailqueue template part set" in shown
    assert (refused.status_code, 'id="fault-source"' in refused.text) == (422, True)
