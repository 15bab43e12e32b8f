"""Public pictures: served to anyone who has the URL, from memory, until they are deleted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from mailqueue.core.errors import Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import borrow
from mailqueue.templates.pictures import keeping
from mailqueue.templates.pictures.model import PATH, PictureRow
from mailqueue.templates.pictures.serving import FRESH_SECONDS, PictureCache
from tests import make
from tests.templates.pictures.drawing import GIF, png, stored
from tests.tracking.world import World, world

pytestmark = pytest.mark.anyio

__all__ = ["world"]


async def uploaded(conn: Conn, octets: bytes, project: str = "default") -> PictureRow:
    project_id = await make.project_named(conn, project)
    return await keeping.find(conn, project_id, await stored(conn, project_id, octets))


@dataclass
class Lender:
    """Lends one connection, counts how often, and moves a clock by hand."""

    conn: Conn
    lent: int = 0
    now: float = 0.0
    is_away: bool = False
    waiting: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[Conn]:
        if self.is_away:
            raise Unavailable("the database is away")
        self.lent += 1
        yield self.conn

    def cache(self, *, max_bytes: int = 10_000) -> PictureCache:
        return PictureCache(self.lend, max_bytes=max_bytes, clock=lambda: self.now)


async def test_a_picture_is_served_with_its_type_and_runs_nothing(world: World) -> None:
    async with borrow(world.pool, world.database) as conn:
        picture = await uploaded(conn, GIF)
    path = f"{PATH}{picture.token.hex}"

    shown = await world.get(path)
    head = await world.get(path, "HEAD")

    assert (shown.status_code, shown.content) == (200, GIF)
    said = shown.headers
    assert said["content-type"] == "image/gif"
    assert said["content-length"] == head.headers["content-length"] == str(len(GIF))
    assert said["x-content-type-options"] == "nosniff"
    assert said["content-security-policy"] == "default-src 'none'; sandbox"
    assert said["cross-origin-resource-policy"] == "cross-origin"
    assert said["cache-control"] == "public, max-age=86400"
    assert "set-cookie" not in said
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == said["etag"] == f'"{picture.sha256}"'


@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', "*"])
async def test_a_cache_that_has_the_picture_is_told_so(world: World, form: str) -> None:
    async with borrow(world.pool, world.database) as conn:
        picture = await uploaded(conn, GIF)
    tag = f'"{picture.sha256}"'

    same = await world.get(f"{PATH}{picture.token.hex}", if_none_match=form.format(tag))
    other = await world.get(f"{PATH}{picture.token.hex}", if_none_match='"other"')

    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    assert same.headers["cache-control"] == "public, max-age=86400"
    assert (other.status_code, other.content) == (200, GIF)


@pytest.mark.parametrize(
    "token", ["x", "0" * 32, str(UUID(int=5)), "0" * 31 + "G", "a" * 5_000, "%00", "%2e%2e"]
)
async def test_an_unknown_url_has_the_page_that_says_so(world: World, token: str) -> None:
    shown = await world.get(f"{PATH}{token}")

    assert shown.status_code == 404
    assert shown.headers["content-type"].startswith("text/html")
    assert "no-store" in shown.headers["cache-control"]


@pytest.mark.parametrize("rest", ["", "%2e%2e%2fx", "..%2f..%2fetc%2fpasswd", f"{'0' * 32}/x"])
async def test_a_path_that_is_no_url_of_a_picture_is_not_found(world: World, rest: str) -> None:
    assert (await world.get(f"{PATH}{rest}")).status_code == 404


async def test_neither_its_id_nor_capital_letters_name_a_public_picture(world: World) -> None:
    async with borrow(world.pool, world.database) as conn:
        picture = await uploaded(conn, GIF)
    named = [picture.id.hex, picture.token.hex.upper(), str(picture.token), picture.sha256]

    statuses = [(await world.get(f"{PATH}{name}")).status_code for name in named]

    assert statuses == [404] * 4


async def test_only_get_and_head_are_answered(world: World) -> None:
    for method in ("POST", "PUT", "DELETE"):
        assert (await world.get(f"{PATH}{'0' * 32}", method)).status_code == 405


@pytest.mark.parametrize("act", ["suspend_project", "delete_project"])
async def test_mail_of_a_project_that_ended_shows_its_pictures_as_its_links_work(
    world: World, act: str
) -> None:
    async with borrow(world.pool, world.database) as conn:
        await make.project(conn, act)
        picture = await uploaded(conn, GIF, act)
        more = ", 'why', 'tests'" if act == "suspend_project" else ", 'tests'"
        await make.scalar(conn, f"SELECT mailqueue.{act}('{act}'{more})")

    shown = await world.get(f"{PATH}{picture.token.hex}")

    assert (shown.status_code, shown.content) == (200, GIF)


async def test_requests_at_the_same_time_and_later_read_a_picture_once(conn: Conn) -> None:
    picture, lender = await uploaded(conn, GIF), Lender(conn)
    cache = lender.cache()

    found = await asyncio.gather(*(cache.get(picture.token) for _ in range(100)))
    later = await cache.get(picture.token)

    assert {each.octets for each in (*found, later) if each is not None} == {GIF}
    assert lender.lent == 1


async def test_a_deleted_picture_is_gone_a_minute_later(conn: Conn) -> None:
    picture, lender = await uploaded(conn, GIF), Lender(conn)
    cache = lender.cache()
    await cache.get(picture.token)
    await keeping.remove(conn, await make.project_named(conn), picture.id, by="tests")

    lender.now = FRESH_SECONDS - 1
    until = await cache.get(picture.token)
    lender.now = FRESH_SECONDS
    after = [await cache.get(picture.token) for _ in range(2)]

    assert (until is None, after) == (False, [None, None])


async def test_a_cached_picture_is_served_while_the_database_is_away(conn: Conn) -> None:
    picture, lender = await uploaded(conn, GIF), Lender(conn)
    cache = lender.cache()
    await cache.get(picture.token)
    lender.now, lender.is_away = FRESH_SECONDS, True

    found = await cache.get(picture.token)
    with pytest.raises(Unavailable):
        await cache.get(UUID(int=1))

    assert found is not None
    assert found.octets == GIF


async def test_the_cache_holds_so_many_bytes_and_forgets_what_was_used_least(conn: Conn) -> None:
    first, second, third = [await uploaded(conn, png(note=each)) for each in (b"a", b"b", b"c")]
    lender = Lender(conn)
    cache = lender.cache(max_bytes=2 * first.bytes)
    for each in (first, second, first, third, first):
        await cache.get(each.token)
    held = lender.lent

    await cache.get(second.token)

    assert (held, lender.lent) == (3, 4)
