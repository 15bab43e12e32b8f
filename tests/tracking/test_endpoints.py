"""Opens and clicks: counted once committed, and redirected only to links of the mail."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import httpx2
import pytest

from mailqueue.api.app import create_app
from mailqueue.api.public.tracked import Repeats
from mailqueue.api.public.tracking import GIF, header_of
from mailqueue.core.secret import Secret
from mailqueue.db.pool import Pool, borrow, open_pool
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.tracking import store
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.model import TrackedLink
from mailqueue.tracking.tokens import LINK_BYTES, Seals, Token, TokenKind
from mailqueue.vault.masterkey import parse_master_key
from mailqueue.wiring.api import build_services
from tests import make
from tests.api.support.calling import ORIGIN, settings_for
from tests.api.support.wired import MASTER

pytestmark = pytest.mark.anyio

PERSON = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/120.0.0.0 Safari/537.36"
)
EVENTS = (
    "SELECT type, recipient_email, data FROM mailqueue.email_events"
    " WHERE email_id = %s AND source = 'tracking' ORDER BY id"
)

SENT = """
    INSERT INTO mailqueue.email_history (id, finished_at, project_id, lane_id, status, priority,
        attempts, max_attempts, created_at, recipients, unknowns, delivery, category, expires_at,
        recipient_email, content_id, content_on)
    VALUES (mailqueue.uuidv7(), now(), %s, 1, 'sent', 2, 1, 100, now(), 1, 0, 'resend',
        'transactional', now() + interval '1 day', %s, 1, now()) RETURNING id
"""


@dataclass
class World:
    """The application, the seals of project default, and mail that was sent."""

    http: httpx2.AsyncClient
    pool: Pool
    database: DatabaseSettings
    seals: Seals
    project_id: UUID
    emails: list[UUID] = field(default_factory=list)

    async def mail(self, recipient: str = "ann@example.com") -> UUID:
        """Return a mail that was sent a moment ago."""
        async with borrow(self.pool, self.database) as conn:
            email_id: UUID = await make.scalar(conn, SENT, self.project_id, recipient)
            return email_id

    async def link(self, url: str) -> bytes:
        link = self.seals.link_of(url)
        async with borrow(self.pool, self.database) as conn:
            await store.keep_links(conn, [TrackedLink(self.project_id, link, url)])
        return link

    def opened(self, email_id: UUID) -> str:
        return "/t/o/" + self.seals.seal(Token(TokenKind.OPEN, email_id))

    def clicked(self, email_id: UUID, link: bytes) -> str:
        return "/t/c/" + self.seals.seal(Token(TokenKind.CLICK, email_id, 0, link))

    async def get(self, path: str, method: str = "GET", **headers: str) -> httpx2.Response:
        given = {"user-agent": PERSON} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return await self.http.request(method, path, headers=given, follow_redirects=False)

    async def events(self, email_id: UUID) -> list[tuple[Any, ...]]:
        async with borrow(self.pool, self.database) as conn:
            return await make.rows(conn, EVENTS, email_id)


@pytest.fixture(scope="module")
async def world(module_db: str) -> AsyncIterator[World]:
    database = DatabaseSettings(Secret(module_db))
    settings = replace(settings_for(database), master_key=Secret(MASTER))
    async with open_pool(database) as pool:
        app = create_app(settings, pool, services=build_services(settings, pool))
        async with borrow(pool, database) as conn:
            project_id = await make.project_named(conn)
            master = parse_master_key(MASTER, source="test")
            seals = await Keyring(lambda: master).of(conn, project_id)
        transport = httpx2.ASGITransport(app=app, client=("203.0.113.77", 4711))
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
            yield World(http, pool, database, seals, project_id)


async def test_a_picture_tells_of_an_open(world: World) -> None:
    email_id = await world.mail()

    answer = await world.get(world.opened(email_id))

    assert (answer.status_code, answer.content) == (200, GIF)
    assert len(GIF) == 43
    assert answer.headers["content-type"] == "image/gif"
    assert "no-store" in answer.headers["cache-control"]
    assert await world.events(email_id) == [
        ("opened", "ann@example.com", {"user_agent": PERSON, "ip": "203.0.113.0/24"})
    ]


async def test_a_link_leads_to_its_page_and_tells_of_a_click(world: World) -> None:
    email_id = await world.mail()
    url = "https://example.com/a?b=1&c=2#d"
    link = await world.link(url)

    answer = await world.get(world.clicked(email_id, link))

    assert answer.status_code == 302
    assert answer.headers["location"] == url
    assert answer.headers["referrer-policy"] == "no-referrer"
    [(what, _, data)] = await world.events(email_id)
    assert (what, data["url"], data["link"]) == ("clicked", url, link.hex())
    assert "is_machine" not in data


async def test_who_only_asks_where_a_link_leads_is_told_and_not_counted(world: World) -> None:
    email_id = await world.mail()
    link = await world.link("https://example.com/head")

    click = await world.get(world.clicked(email_id, link), "HEAD")
    opened = await world.get(world.opened(email_id), "HEAD")

    assert (click.status_code, click.headers["location"]) == (302, "https://example.com/head")
    assert (opened.status_code, opened.content) == (200, b"")
    assert opened.headers["content-length"] == "43"
    assert await world.events(email_id) == []


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_no_token_but_ours_leads_anywhere(world: World, method: str) -> None:
    email_id = await world.mail()
    link = await world.link("https://example.com/known")
    stranger = world.clicked(email_id, bytes(LINK_BYTES))
    wrong = world.clicked(email_id, link).replace("/t/c/", "/t/o/")
    other = world.opened(email_id).replace("/t/o/", "/t/c/")
    unsubscribe = "/t/c/" + world.seals.seal(Token(TokenKind.UNSUBSCRIBE, email_id))
    paths = [stranger, wrong, other, unsubscribe, "/t/c/", "/t/c/x", "/t/o/" + "A" * 54]
    paths += ["/t/c/" + "A" * 5000, "/t/c/https://example.org/", world.opened(email_id) + "."]

    for path in paths:
        answer = await world.get(path, method)

        assert answer.status_code == 404, path
        assert "location" not in answer.headers
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert await world.events(email_id) == []


async def test_nothing_but_web_pages_is_led_to_whatever_the_database_says(world: World) -> None:
    email_id = await world.mail()
    async with borrow(world.pool, world.database) as conn, conn.transaction():
        await conn.execute("SET LOCAL ROLE mailqueue_owner")
        await conn.execute(
            "ALTER TABLE mailqueue.tracked_links DROP CONSTRAINT tracked_links_url_check"
        )
    for url in ("javascript:alert(1)", "//example.com", "https://a@example.com", "data:text/html,"):
        link = await world.link(url)

        assert (await world.get(world.clicked(email_id, link))).status_code == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
async def test_only_looking_is_answered(world: World, method: str) -> None:
    answer = await world.get(world.opened(await world.mail()), method)

    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(("name", "value"), [("dnt", "1"), ("sec_gpc", "1")])
async def test_who_asks_not_to_be_tracked_leaves_no_address(
    world: World, name: str, value: str
) -> None:
    email_id = await world.mail()

    await world.get(world.opened(email_id), **{name: value})

    assert [data for _, _, data in await world.events(email_id)] == [{"do_not_track": True}]


@pytest.mark.parametrize(
    ("agent", "machine"),
    [
        ("Mozilla/5.0", "apple_privacy"),
        (f"{PERSON} (via ggpht.com GoogleImageProxy)", "gmail_proxy"),
        ("YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html", "yahoo_proxy"),
        ("python-requests/2.31", "scanner"),
    ],
)
async def test_what_a_program_opens_is_recorded_as_its_doing(
    world: World, agent: str, machine: str
) -> None:
    email_id = await world.mail()

    assert (await world.get(world.opened(email_id), user_agent=agent)).status_code == 200

    [(_, _, data)] = await world.events(email_id)
    assert (data["is_machine"], data["machine"]) == (True, machine)


async def test_links_followed_all_at_once_after_a_mail_came_were_followed_by_a_program(
    world: World,
) -> None:
    email_id = await world.mail()
    links = [await world.link(f"https://example.com/{n}") for n in range(4)]

    for link in links:
        assert (await world.get(world.clicked(email_id, link))).status_code == 302

    verdicts = [data.get("machine") for _, _, data in await world.events(email_id)]
    assert verdicts == ["burst"] * 4


async def test_a_person_may_follow_two_links_or_the_same_one_often(world: World) -> None:
    email_id = await world.mail()
    one, two = [await world.link(f"https://example.com/p{n}") for n in range(2)]

    for link in (one, two, one, one):
        await world.get(world.clicked(email_id, link))

    assert not any("is_machine" in data for _, _, data in await world.events(email_id))


async def test_requests_at_once_share_commits_and_none_is_lost(world: World) -> None:
    emails = [await world.mail() for _ in range(40)]
    link = await world.link("https://example.com/many")
    paths = [world.opened(each) for each in emails]
    paths += [world.clicked(each, link) for each in emails]
    paths += [world.clicked(emails[0], bytes(LINK_BYTES))]

    answers = await asyncio.gather(*(world.get(path) for path in paths))

    assert [each.status_code for each in answers] == [200] * 40 + [302] * 40 + [404]
    for each in emails:
        assert sorted(what for what, _, _ in await world.events(each)) == ["clicked", "opened"]


async def test_an_open_of_a_message_to_several_names_no_recipient(world: World) -> None:
    email_id = await world.mail()
    async with borrow(world.pool, world.database) as conn:
        for n, name in enumerate(("ann", "bob")):
            await conn.execute(
                "INSERT INTO mailqueue.email_recipients (email_id, position, project_id, kind,"
                " address, status) VALUES (%s, %s, %s, 'to', %s, 'sent')",
                (email_id, n, world.project_id, f"{name}@example.com"),
            )

    await world.get(world.opened(email_id))

    assert [recipient for _, recipient, _ in await world.events(email_id)] == [None]


async def test_who_asks_without_end_is_answered_and_counted_a_few_times(world: World) -> None:
    email_id = await world.mail()
    path = world.opened(email_id)

    answers = await asyncio.gather(*(world.get(path) for _ in range(60)))

    assert {each.status_code for each in answers} == {200}
    assert len(await world.events(email_id)) < 60


def test_a_second_later_it_counts_again() -> None:
    clock = iter([1.0] * 8 + [2.0])
    repeats = Repeats(lambda: next(clock))

    assert [repeats.is_too_often("x") for _ in range(7)] == [False] * 5 + [True] * 2
    assert not repeats.is_too_often("y")
    assert not repeats.is_too_often("x")


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("https://example.com/a b", "https://example.com/a%20b"),
        ("https://example.com/%20?q=a%26b", "https://example.com/%20?q=a%26b"),
        ("https://bücher.example/straße?ü=1", "https://xn--bcher-kva.example/stra%C3%9Fe?%C3%BC=1"),
        ("https://example.com/\r\nSet-Cookie: a", "https://example.com/%0D%0ASet-Cookie:%20a"),
        ("https://example.com/?a=[1]&b={2}|3", "https://example.com/?a=[1]&b={2}|3"),
    ],
)
def test_an_address_stands_in_a_header_in_ascii(url: str, written: str) -> None:
    assert header_of(url) == written.encode()
