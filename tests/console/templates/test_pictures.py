"""Pictures of templates in the console: uploaded, shown, deleted; each act once."""

from html import unescape

import pytest

from mailqueue.templates.model import NewText
from mailqueue.templates.pictures import keeping
from mailqueue.templates.pictures.model import MAX_BYTES
from tests import make
from tests.console.visiting import Visiting
from tests.templates.making import published
from tests.templates.pictures.drawing import GIF, png, stored

pytestmark = pytest.mark.anyio

PATH = "/console/projects/shop/templates/pictures"


async def test_a_picture_is_uploaded_shown_used_and_deleted(console: Visiting) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        shop = await make.project(conn, "shop")
        await console.add_user("ann")
        await visitor.log_in("ann")
        empty = (await visitor.get(PATH)).text
        made = await visitor.upload(f"{PATH}/new", png(), name="<logo>.png")
        again = await visitor.upload(f"{PATH}/new", png(), name="other.png")
        (picture,) = await keeping.list_all(conn, shop)
        one = f"{PATH}/{picture.id}"
        body = f'<img src="https://x.example/t/p/{picture.token.hex}">'
        await published(conn, shop, slug="welcome", words=NewText("s", body, "t"))
        await published(conn, shop, slug="other", words=NewText("s", "<p>x</p>", "t"))
        listed = (await visitor.get(PATH)).text
        shown = (await visitor.get(made.headers["location"])).text
        file = await visitor.get(f"{one}/file")
        asked = (await visitor.get(f"{one}/remove")).text
        gone = await visitor.submit(f"{one}/remove", f"{one}/remove")
        left = await keeping.list_all(conn, shop)
        actions = await make.rows(
            conn,
            "SELECT actor, project_id, action FROM mailqueue.audit_events"
            " WHERE action LIKE 'template.picture%%' ORDER BY id",
        )

    assert "None yet." in empty
    assert made.headers["location"] == again.headers["location"] == f"{one}?done=stored"
    assert picture.name == "<logo>.png"
    assert "&lt;logo&gt;.png" in listed
    assert f'src="{one}/file"' in listed
    assert "<code>welcome</code>" in shown.replace("<bdi>", "").replace("</bdi>", "")
    assert (file.content, file.headers["content-type"]) == (png(), "image/png")
    assert file.headers["content-security-policy"] == "sandbox"
    assert file.headers["x-content-type-options"] == "nosniff"
    assert "These templates use it now: welcome." in unescape(asked)
    assert (gone.headers["location"], left) == (f"{PATH}?done=removed", [])
    assert actions == [
        ("ann (console)", shop, "template.picture_added"),
        ("ann (console)", shop, "template.picture_deleted"),
    ]


@pytest.mark.parametrize(
    ("octets", "name", "said"),
    [
        (b"<svg onload='alert(1)'/>", "logo.png", "no PNG, JPEG, GIF or WebP"),
        (png()[:-4], "logo.png", "cut off"),
        (png() + b"<script>", "logo.png", "other bytes behind"),
        (png(note=b"x" * MAX_BYTES), "large.png", "at most 1 MiB"),
        (png(), "../logo.png", "not the name of a file"),
        (png(), "a\u202egnp.exe", "not the name of a file"),
        (b"", "", "Choose a file"),
    ],
)
async def test_what_is_no_picture_is_refused_on_the_form(
    console: Visiting, octets: bytes, name: str, said: str
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        shop = await make.project(conn, "shop")
        await console.add_user("ann", "project_admin", "shop")
        await visitor.log_in("ann")
        answer = await visitor.upload(f"{PATH}/new", octets, name=name)
        left = await keeping.list_all(conn, shop)

    assert (answer.status_code, said in unescape(answer.text)) == (422, True), answer.text
    assert 'id="fault-file"' in answer.text
    assert left == []


async def test_a_file_far_too_large_is_not_read_to_its_end(console: Visiting) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        await make.project(conn, "shop")
        await console.add_user("ann", "project_admin", "shop")
        await visitor.log_in("ann")
        answer = await visitor.upload(f"{PATH}/new", b"x" * (2 * MAX_BYTES), name="a.png")

    assert (answer.status_code, "at most 1 MiB" in answer.text) == (413, True)


async def test_a_viewer_sees_pictures_and_changes_none_and_no_project_sees_anothers(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        own, other = [
            await stored(conn, await make.project(conn, name), GIF) for name in ("shop", "blog")
        ]
        await console.add_user("vera", "viewer", "shop")
        await visitor.log_in("vera")
        page = (await visitor.get(f"{PATH}/{own}")).text
        reads = [
            (await visitor.get(f"{PATH}/{picture}{end}")).status_code
            for picture in (own, other)
            for end in ("", "/file", "/remove")
        ]
        asks = (await visitor.get(f"{PATH}/new")).status_code
        path = f"{PATH}/{own}/remove"
        acts = (await visitor.post(path, {"token": visitor.token(path)})).status_code

    assert ("/remove" in page, reads) == (False, [200, 200, 403, 404, 404, 403])
    assert (asks, acts) == (403, 403)
