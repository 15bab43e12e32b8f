"""The logo of a project on the pages of its recipients: shown from the origin of the page."""

import re
from collections.abc import AsyncIterator
from uuid import UUID

import httpx2
import pytest

from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.projects import manage
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.templates.pictures import keeping
from tests import make
from tests.api.support.recipient_links import Leaving, leaving
from tests.contacts import people
from tests.contacts.confirming import asked_link
from tests.templates.pictures.drawing import GIF, png, stored

pytestmark = pytest.mark.anyio


@pytest.fixture
async def shop(database: DatabaseSettings) -> AsyncIterator[Leaving]:
    async with leaving(database) as made:
        yield made


async def chosen(conn: Conn, picture: UUID | None, project: str = "shop") -> None:
    asked = {"logo": None if picture is None else str(picture)}
    await manage.change(conn, project, changes=asked, by="ann")


def policy_of(answer: httpx2.Response) -> dict[str, str]:
    parts = answer.headers["content-security-policy"].split("; ")
    return dict(part.partition(" ")[::2] for part in parts)


async def test_the_logo_is_on_every_page_with_the_projects_name(shop: Leaving) -> None:
    picture = await stored(shop.conn, shop.project_id, png(8, 8))
    await people.list_of(shop.conn, shop.project_id, "monthly", opt_in="confirmed")
    links = [
        await shop.link_to("ann@example.com"),
        await shop.preferences_of("ann@example.com"),
        await asked_link(shop, "ben@example.com", name="monthly"),
    ]
    without = [await shop.http.get(link) for link in links]
    await chosen(shop.conn, picture)
    shown = [await shop.http.get(link) for link in links]
    token = (await keeping.find(shop.conn, shop.project_id, picture)).token
    fetched = await shop.http.get(f"/t/p/{token.hex}")
    await chosen(shop.conn, None)
    after = await shop.http.get(links[0])

    for answer in [*without, after]:
        assert "<img" not in answer.text
        assert "img-src" not in policy_of(answer), "nothing is loaded where nothing is shown"
    tag = f'<img class="logo" src="/t/p/{token.hex}" alt="The Shop &amp; Co">'
    for answer in shown:
        assert answer.text.count("<img") == answer.text.count(tag) == 1
        assert policy_of(answer)["img-src"] == "'self'"
        assert policy_of(answer)["default-src"] == "'none'"
        assert re.fullmatch(r"'nonce-[\w-]+'", policy_of(answer)["style-src"])
    assert (fetched.content, fetched.headers["content-type"]) == (png(8, 8), "image/png")


async def test_a_page_of_no_project_has_no_logo(shop: Leaving) -> None:
    await chosen(shop.conn, await stored(shop.conn, shop.project_id))

    answer = await shop.http.get("/pref/nothing")

    assert (answer.status_code, "<img" in answer.text) == (404, False)
    assert "img-src" not in policy_of(answer)


@pytest.mark.parametrize(
    "value",
    ["", "logo.png", "0", "'; DROP", "https://x.example/a.png", str(UUID(int=7)), "{", "\u202e"],
)
async def test_what_is_no_picture_of_the_project_is_refused(conn: Conn, value: str) -> None:
    with pytest.raises(InvalidField, match="logo: the id of a picture of the project is needed"):
        await manage.change(conn, "default", changes={"logo": value}, by="ann")


@pytest.mark.parametrize("value", [1, True, ["x"], {"id": "x"}])
async def test_a_logo_is_named_by_a_string(conn: Conn, value: object) -> None:
    with pytest.raises(InvalidField, match="logo: a string is needed"):
        await manage.change(conn, "default", changes={"logo": value}, by="ann")


async def test_a_picture_of_another_project_is_no_logo(conn: Conn) -> None:
    other = await make.project(conn, "other")
    picture = await stored(conn, other)

    with pytest.raises(InvalidField) as refused:
        await chosen(conn, picture, "default")

    assert refused.value.field == "logo"


async def test_a_logo_is_deleted_only_after_another_one_is_chosen(conn: Conn) -> None:
    project_id = await make.project_named(conn)
    logo = await stored(conn, project_id, name="old.png")
    other = await stored(conn, project_id, GIF, name="new.gif")
    await chosen(conn, logo, "default")

    with pytest.raises(Conflict, match=r'"old.png" is the logo of the project'):
        async with conn.transaction():
            await keeping.remove(conn, project_id, logo, by="ann")
    kept = await keeping.list_all(conn, project_id)
    await chosen(conn, other, "default")
    await keeping.remove(conn, project_id, logo, by="ann")

    assert {each.id for each in kept} == {logo, other}
    assert [each.id for each in await keeping.list_all(conn, project_id)] == [other]
