"""What all pages share: security headers, static files, errors, and a proxy before them."""

import hashlib
import re
from pathlib import Path
from uuid import UUID, uuid4

import pytest

import mailqueue.console
from mailqueue.api.app import create_app
from mailqueue.console.app import console_routes
from mailqueue.console.emails.timeline import program_of
from mailqueue.console.frame.rendering import ASSETS
from mailqueue.wiring.console import message_sources
from tests import make
from tests.api.support.calling import settings_for
from tests.console.visiting import Visiting, Visitor

pytestmark = pytest.mark.anyio

EMAILS = "/console/projects/default/emails"
HTML = "<p>Hello <b>Ann</b></p><script>alert(1)</script>"


async def logged_in(console: Visiting, visitor: Visitor, role: str = "superadmin") -> None:
    name = f"{role}-{uuid4().hex[:6]}"
    await console.add_user(name, role, *(["default"] if role != "superadmin" else []))
    assert (await visitor.log_in(name)).status_code == 303


async def queued(console: Visiting, count: int = 1, **columns: object) -> list[UUID]:
    async with console.connection() as conn:
        return [await make.queued_email(conn, **columns) for _ in range(count)]


async def test_every_response_has_the_security_headers(shared_console: Visiting) -> None:
    async with shared_console.visitor() as visitor:
        for path in (
            "/console",
            "/console/login",
            "/console/nothing-here",
            ASSETS.url("console.css"),
            "/console/static/nothing.css",
        ):
            headers = (await visitor.get(path)).headers
            assert "default-src 'none'" in headers["content-security-policy"]
            assert "script-src 'self'" in headers["content-security-policy"]
            assert "frame-ancestors 'none'" in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert headers["referrer-policy"] == "same-origin"
            is_asset = path == ASSETS.url("console.css")
            assert ("no-store" in headers["cache-control"]) is not is_asset


async def test_static_files_are_those_of_the_folder_and_may_be_kept(
    shared_console: Visiting,
) -> None:
    async with shared_console.visitor() as visitor:
        for name, asset in ASSETS.files.items():
            response = await visitor.get(ASSETS.url(name))
            assert response.content == asset.content
            assert "immutable" in response.headers["cache-control"]
        missing = await visitor.get("/console/static/..%2f..%2f__init__.py")

    assert missing.status_code == 404
    package = Path(mailqueue.__file__).parent
    kept = [*package.glob("console/*/static/**/*"), *package.glob("web/static/*")]
    assert set(ASSETS.files) == {
        each.name for each in kept if each.suffix in (".css", ".js", ".svg")
    }
    assert {"console.css", "console.js", "htmx.min.js", "icon.svg"} <= set(ASSETS.files)


async def test_the_vendored_files_are_those_of_their_record() -> None:
    folder = Path(mailqueue.console.__file__).parent / "frame" / "static" / "vendor"
    record = (folder / "README.md").read_text("utf-8")
    files = [path for path in folder.iterdir() if path.suffix in (".js", ".css")]

    assert files
    for path in files:
        assert hashlib.sha256(path.read_bytes()).hexdigest() in record


async def test_the_first_page_leads_to_the_console(shared_console: Visiting) -> None:
    async with shared_console.visitor() as visitor:
        response = await visitor.get("/")

    assert (response.status_code, response.headers["location"]) == (303, "/console")


async def test_errors_are_pages_without_details(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        missing = await visitor.get("/console/nothing-here")
        method = await visitor.http.delete("/console/login")
        async with console.connection() as conn:
            await conn.execute("ALTER FUNCTION mailqueue.why(uuid) RENAME TO why_not")
        (email,) = await queued(console)
        broken = await visitor.get(f"{EMAILS}/{email}")

    assert (missing.status_code, method.status_code) == (404, 405)
    assert method.headers["allow"] == "GET, POST"
    assert broken.status_code == 500
    assert "why" not in broken.text.partition("<body>")[2]
    assert broken.headers["x-request-id"] in broken.text


async def test_a_database_that_is_away_is_said_without_its_address(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        await console.pool.close()
        response = await visitor.get(EMAILS)

    assert response.status_code == 503
    assert "127.0.0.1" not in response.text.partition("<body>")[2]


async def test_behind_a_proxy_with_https_cookies_are_encrypted_and_the_origin_is_the_urls(
    console: Visiting,
) -> None:
    await console.add_user("ann")
    url = "https://console.example.com"
    settings = settings_for(console.database, console_url=url)
    pages = console_routes(settings, console.pool, message_sources(settings))
    behind = Visiting(
        create_app(settings, console.pool, with_api=False, pages=pages),
        console.pool,
        console.database,
    )
    async with behind.visitor() as visitor:
        foreign = await visitor.log_in("ann")
        response = await visitor.post(
            "/console/login", {"name": "ann", "password": "x"}, Origin=url
        )
        page = await visitor.get("/console/login")

    assert foreign.status_code == 403, "an origin that is not the URL"
    assert response.status_code == 401
    assert page.headers["strict-transport-security"]


async def test_the_menu_leads_to_the_same_page_of_the_other_projects_that_the_user_sees(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        shop, *_ = [await make.project(conn, name) for name in ("shop", "blog", "secret")]
        email = await make.queued_email(conn, project_id=shop)
        await console.add_user("ann", "project_admin", "shop", "blog")
        await console.add_user("ben", "project_admin", "shop")
        await visitor.log_in("ann")
        page = (await visitor.get(f"/console/projects/shop/emails/{email}")).text
        await visitor.log_in("ben")
        alone = (await visitor.get(f"/console/projects/shop/emails/{email}")).text

    assert 'href="/console/projects/blog/emails"' in page
    assert "secret" not in page
    assert '<a href="/docs">API reference</a>' in page
    assert '<a href="/trap">Mail trap</a>' in page
    assert 'class="others"' not in alone
    assert '<span class="pill busy">queued</span>' in page
    assert re.findall(r'class="button main"[^>]*>([^<]*)', page) == [], "it is on its way"


def test_what_opened_an_email_is_read_from_its_event() -> None:
    iphone = {"client": "Apple Mail", "system": "iOS", "device": "phone", "user_agent": "Mozilla/5"}
    for data, program in (
        (iphone, "Apple Mail on iPhone"),
        ({"client": "Gmail"}, "Gmail"),
        ({"client": "other", "system": "Windows", "device": "desktop"}, "Windows"),
        ({"client": "other", "system": "other", "user_agent": "curl/8"}, "curl/8"),
        ({"client": 1, "system": []}, None),
        (None, None),
    ):
        assert program_of(data) == program
