"""The trap's pages: who may see them, and that hostile mail can do nothing there."""

import base64
import re
from collections.abc import AsyncIterator

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from mailqueue.core.secret import Secret
from mailqueue.db.pool import Pool, borrow, open_pool
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.trap import store
from mailqueue.trap.pages import PATHS, trap_pages
from mailqueue.trap.rendering import ASSETS
from mailqueue.trap.summary import caught
from tests.rows import each_row
from tests.trap.trapping import HTML

pytestmark = pytest.mark.anyio

ORIGIN = "http://127.0.0.1:8025"
EVIL = (
    b'From: "<img src=x onerror=alert(1)>" <evil@example.net>\r\n'
    b"Subject: </title><script>alert(1)</script>{{ 7919*7907 }}\r\n"
    b"X-Evil: </td><script>alert(2)</script>\r\n"
    b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
    b"--b\r\nContent-Type: text/html\r\n\r\n<p>hi<script>alert(3)</script>\r\n"
    b'--b\r\nContent-Disposition: attachment; filename="<script>alert(4)</script>\r\n--b--\r\n'
)


def client_of(
    pool: Pool, database: DatabaseSettings, *beside: str, password: str | None = None
) -> httpx2.AsyncClient:
    pages = trap_pages(pool, database, password=Secret(password) if password else None)
    app = Starlette(routes=[Route(path, pages) for path in (*PATHS, *beside)])
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url=ORIGIN)


@pytest.fixture
async def pool(database: DatabaseSettings) -> AsyncIterator[Pool]:
    async with open_pool(database, is_required=False) as opened:
        yield opened


@pytest.fixture
async def page(pool: Pool, database: DatabaseSettings) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(pool, database) as client:
        yield client


async def catch(pool: Pool, database: DatabaseSettings, *raws: bytes) -> None:
    async with borrow(pool, database) as conn:
        await store.add(conn, [caught("a@b.example", ("c@d.example",), raw) for raw in raws])


def numbered(count: int) -> list[bytes]:
    return [f"Subject: number {n}\r\n\r\nx".encode() for n in range(1, count + 1)]


async def test_an_empty_trap_tells_how_to_send_the_first_mail(page: httpx2.AsyncClient) -> None:
    text = (await page.get("/trap")).text

    assert "No mail yet" in text
    assert "INSERT INTO mailqueue.email_queue (recipient_email, subject, html_body)" in text


async def test_what_the_listener_serves_beside_the_trap_is_linked_and_nothing_else(
    page: httpx2.AsyncClient, pool: Pool, database: DatabaseSettings
) -> None:
    await catch(pool, database, *numbered(1))
    alone = (await page.get("/trap")).text
    async with client_of(pool, database, "/console") as one:
        listed = (await one.get("/trap")).text
        opened = listed.partition('href="/trap/messages/')[2].partition('"')[0]
        message = (await one.get(f"/trap/messages/{opened}")).text

    assert "Elsewhere" not in alone
    for text in (listed, message):
        assert '<a href="/console">Console</a>' in text
        assert "/docs" not in text


async def test_the_list_is_paged_by_key_and_searched(
    page: httpx2.AsyncClient, pool: Pool, database: DatabaseSettings
) -> None:
    await catch(pool, database, *numbered(60))

    first = (await page.get("/trap")).text
    older = re.search(r'href="(/trap\?[^"]*before=\d+)"', first)
    assert older is not None
    second = (await page.get(older[1].replace("&amp;", "&"))).text
    found = (await page.get("/trap", params={"q": "number 17"})).text
    nothing = (await page.get("/trap", params={"q": "<script>"})).text

    assert first.count("<li>") == 50
    assert second.count("<li>") == 10
    assert 'data-live="yes"' in first
    assert 'data-live="no"' in second
    assert found.count("<li>") == 1
    assert "Nothing fits “&lt;script&gt;”" in nothing


async def test_news_is_what_came_after(
    page: httpx2.AsyncClient, pool: Pool, database: DatabaseSettings
) -> None:
    await catch(pool, database, *numbered(3))

    everything = (await page.get("/trap/messages.json?after=0")).json()
    newest = everything["messages"][0]
    nothing = (await page.get(f"/trap/messages.json?after={newest['id']}")).json()
    searched = (await page.get("/trap/messages.json?after=0&q=number+2")).json()

    assert everything["total"] == nothing["total"] == 3
    assert [each["subject"] for each in everything["messages"]] == [
        "number 3",
        "number 2",
        "number 1",
    ]
    assert newest["to"] == "c@d.example"
    assert nothing["messages"] == []
    assert searched["total"] == 1


async def test_a_message_has_four_views_and_a_download(
    page: httpx2.AsyncClient, pool: Pool, database: DatabaseSettings
) -> None:
    await catch(pool, database, HTML)

    html = (await page.get("/trap/messages/1")).text
    frame = await page.get("/trap/messages/1/html")
    text = (await page.get("/trap/messages/1?view=text")).text
    source = (await page.get("/trap/messages/1?view=source")).text
    headers = (await page.get("/trap/messages/1?view=headers")).text
    download = await page.get("/trap/messages/1/download")

    assert '<iframe class="paper"' in html
    assert "<p>Thank you for <b>the order</b>.</p>" in frame.text
    assert "Thank you for the order." in text
    assert "=?utf-8?b?8J+Yig==?=" in source
    assert "Receipt 😊 for you" in headers
    assert download.content == HTML
    assert download.headers["content-type"] == "message/rfc822"
    assert download.headers["content-disposition"] == 'attachment; filename="message-1.eml"'


async def test_hostile_mail_is_text_wherever_it_is_shown(
    page: httpx2.AsyncClient, pool: Pool, database: DatabaseSettings
) -> None:
    await catch(pool, database, EVIL)

    for path in (
        "",
        "/messages/1",
        *(f"/messages/1?view={v}" for v in ("text", "source", "headers")),
    ):
        answer = await page.get("/trap" + path)
        assert answer.status_code == 200
        scripts = re.findall(r"<script[^>]*>", answer.text)
        assert len(scripts) == 1, path
        assert scripts[0].startswith(f'<script src="{ASSETS.url("trap.js")}"')
        assert "<img" not in answer.text
        assert "62615533" not in answer.text
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert "unsafe" not in answer.headers["content-security-policy"]


async def test_a_mails_html_is_served_in_a_sandbox_only(
    page: httpx2.AsyncClient, pool: Pool, database: DatabaseSettings
) -> None:
    await catch(pool, database, EVIL)

    answer = await page.get("/trap/messages/1/html")
    policy = [part.strip() for part in answer.headers["content-security-policy"].split(";")]

    assert policy[0].split()[0] == "sandbox"
    assert "default-src 'none'" in policy
    assert "allow-scripts" not in policy[0]
    assert "allow-same-origin" not in policy[0]
    assert "form-action 'none'" in policy
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"


@each_row(
    "path",
    [
        *("/messages/99", "/messages/0", "/messages/99999999999999999999", "/messages/x"),
        *(f"/messages/{'9' * 5_000}", "/messages/٣", "/nothing"),
    ],
)
async def test_what_is_not_there_is_a_page_too(page: httpx2.AsyncClient, path: str) -> None:
    answer = await page.get("/trap" + path)

    assert answer.status_code == 404
    assert "Back to the list" in answer.text


async def test_numbers_that_are_none_are_passed_over(page: httpx2.AsyncClient) -> None:
    for text in ("x", "-1", "²", "9" * 40, "\0"):
        answer = await page.get("/trap", params={"before": text, "q": text})
        assert answer.status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 303),
        ({"Origin": ORIGIN}, 303),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "null"}, 303),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:9999"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": ORIGIN}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
    ],
)
async def test_only_our_own_page_may_clear(
    page: httpx2.AsyncClient,
    pool: Pool,
    database: DatabaseSettings,
    headers: dict[str, str],
    status: int,
) -> None:
    await catch(pool, database, HTML)

    answer = await page.post("/trap/clear", headers=headers)

    assert answer.status_code == status
    left = (await page.get("/trap/messages.json")).json()["total"]
    assert left == (0 if status == 303 else 1)


async def test_looking_changes_nothing(
    page: httpx2.AsyncClient, pool: Pool, database: DatabaseSettings
) -> None:
    await catch(pool, database, HTML)

    assert (await page.get("/trap/clear")).status_code == 405
    assert (await page.get("/trap/messages.json")).json()["total"] == 1


@each_row(
    "host, status",
    [
        ("localhost:8025", 200),
        ("127.0.0.1", 200),
        ("[::1]:8025", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("", 421),
        ("[", 421),
    ],
)
async def test_a_name_that_points_here_does_not_open_the_trap(
    page: httpx2.AsyncClient, host: str, status: int
) -> None:
    assert (await page.get("/trap", headers={"Host": host})).status_code == status


async def test_with_a_password_nothing_is_seen_without_it(
    pool: Pool, database: DatabaseSettings
) -> None:
    async with client_of(pool, database, password="gehéim") as page:
        for path in ("", "/messages.json", "/static/trap.css", "/nothing"):
            answer = await page.get("/trap" + path)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Basic ")
        for given in ("x:wrong", "x:", ":", "gehéim"):
            token = base64.b64encode(given.encode()).decode()
            refused = await page.get("/trap", headers={"Authorization": f"Basic {token}"})
            assert refused.status_code == 401
        broken = await page.get("/trap", headers={"Authorization": "Basic !!!"})
        token = base64.b64encode("anybody:gehéim".encode()).decode()
        host = {"Host": "trap.example.com", "Authorization": f"Basic {token}"}
        seen = await page.get("/trap", headers=host)

    assert broken.status_code == 401
    assert seen.status_code == 200


async def test_every_page_is_kept_out_of_caches_and_frames(page: httpx2.AsyncClient) -> None:
    answer = await page.get("/trap")

    assert answer.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


async def test_no_page_names_an_outside_address(
    page: httpx2.AsyncClient, pool: Pool, database: DatabaseSettings
) -> None:
    await catch(pool, database, HTML)

    for path in ("", "/messages/1", "/static/trap.css", "/static/trap.js"):
        assert not re.search(r"(https?:)?//[a-z]", (await page.get("/trap" + path)).text)
    icon = await page.get(ASSETS.url("icon.svg"))
    assert icon.headers["cache-control"] == "private, max-age=31536000, immutable"
