"""Opens and clicks: counted once committed, and redirected only to links of the mail."""

import asyncio
from html import unescape

import pytest

from mailqueue.api.public.tracked import Recorder, Repeats
from mailqueue.api.public.tracking import GIF, header_of
from mailqueue.api.public.wording import WORDS
from mailqueue.core.errors import Unavailable
from mailqueue.db.pool import borrow
from mailqueue.tracking.tokens import LINK_BYTES, Token, TokenKind
from tests.tracking.world import PERSON, World, world

pytestmark = pytest.mark.anyio

__all__ = ["world"]


async def test_a_picture_tells_of_an_open(world: World) -> None:
    email_id = await world.mail()

    answer = await world.get(world.opened(email_id))

    assert (answer.status_code, answer.content) == (200, GIF)
    assert len(GIF) == 43
    assert answer.headers["content-type"] == "image/gif"
    assert "no-store" in answer.headers["cache-control"]
    assert await world.events(email_id) == [
        (
            *("opened", "ann@example.com"),
            {
                "user_agent": PERSON,
                "ip": "203.0.113.0/24",
                "client": "Chrome",
                "system": "Windows",
                "device": "desktop",
            },
        )
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
        kind = "text/html" if path.startswith("/t/c/") else "text/plain"
        assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
    assert await world.events(email_id) == []


@pytest.mark.parametrize(
    ("query", "accepted", "tag", "direction"),
    [
        ("", "", "en", "ltr"),
        ("", "fr-CA, de;q=0.5", "fr", "ltr"),
        ("?lang=he", "fr", "he", "rtl"),
        ("?lang=<script>&lang=de&" + "x=1&" * 5000, "ar", "ar", "rtl"),
    ],
)
async def test_a_click_that_leads_nowhere_shows_a_page_in_the_readers_language(
    world: World, query: str, accepted: str, tag: str, direction: str
) -> None:
    path = world.clicked(await world.mail(), bytes(LINK_BYTES))
    answer = await world.http.get(path + query, headers={"Accept-Language": accepted})

    assert answer.status_code == 404
    assert f'<html lang="{tag}" dir="{direction}">' in answer.text
    assert WORDS[tag]["missing"] in unescape(answer.text)
    assert "<script" not in answer.text
    assert "script-src" not in answer.headers["content-security-policy"]
    assert answer.headers["content-language"] == tag


async def test_a_click_while_the_database_is_away_asks_to_try_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise Unavailable("the database is away")

    path = world.clicked(await world.mail(), await world.link("https://example.com/"))
    monkeypatch.setattr(Recorder, "record", away)
    answers = [await world.get(path) for _ in range(2)]

    for answer in answers:
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert WORDS["en"]["link_away"] in answer.text
    assert len(answers[1].headers.get_list("retry-after")) == 1


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
