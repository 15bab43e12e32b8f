"""Logins at published issuers, unmodified: oidc-provider (Node) and oidc-provider-mock (Python)."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx2
import pytest
from playwright.async_api import Page

from mailqueue.api.http.server import bind, listening
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.clients.node import HOME
from tests.console.login.hostile import BACK, CLIENT, GROUPS, START
from tests.console.looking import chromium
from tests.console.visiting import ORIGIN, Visiting, Visitor, visiting

pytestmark = pytest.mark.anyio
HERE = Path(__file__).parent
PROGRAM = HERE / "provider.mjs"
MOCK = """
import sys
from oidc_provider_mock import User, run_server_in_thread
users = [
    User(sub="ann", claims={"preferred_username": "Ann", "groups": ["admins"]}),
    User(sub="eve", claims={"groups": ["others"]}),
]
with run_server_in_thread(user_claims=users, require_nonce=True) as server:
    print(f"http://localhost:{server.server_port}", flush=True)
    sys.stdin.read()
"""
LOOPBACK = "127.0.0.0/8, ::1/128"


@asynccontextmanager
async def running(*command: str, cwd: Path, **environment: str) -> AsyncIterator[str]:
    """Run a program that prints its issuer and ends with its standard input; yield the issuer."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **environment},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        while not (line := (await process.stdout.readline()).decode()).startswith("http"):
            assert line, "the issuer has ended"
        yield line.strip()
    finally:
        process.stdin.close()
        await process.wait()


def node_issuer(**environment: str) -> AbstractAsyncContextManager[str]:
    """Run oidc-provider; yield its issuer."""
    command = ("node", "--input-type=module", "--eval", PROGRAM.read_text("utf-8"))
    return running(*command, cwd=HOME, **{"BACK": f"{ORIGIN}{BACK}"} | environment)


def python_issuer() -> AbstractAsyncContextManager[str]:
    """Run oidc-provider-mock; yield its issuer."""
    command = (sys.executable, "-W", "ignore", "-c", MOCK)
    return running(*command, cwd=HERE, AUTHLIB_INSECURE_TRANSPORT="1")


@asynccontextmanager
async def console_of(
    database: DatabaseSettings, issuer: str, secret: str | None = None, *, url: str = ORIGIN
) -> AsyncIterator[Visiting]:
    options: dict[str, Any] = {
        "oidc_issuer": issuer,
        "oidc_client_id": CLIENT,
        "oidc_client_secret": secret,
        "oidc_groups": GROUPS,
        "oidc_role_claim": "groups",
        "oidc_allowed_hosts": LOOPBACK,
        "console_url": url,
    }
    async with visiting(database, **options) as console:
        async with console.connection() as conn:
            await make.project(conn, "shop")
        yield console


async def answer_of(http: httpx2.AsyncClient, url: str, name: str) -> httpx2.URL:
    """Log in at the pages of oidc-provider; return the URL to which it sends the browser."""
    response = await http.get(url)
    for _ in range(10):
        if response.is_redirect:
            target = urljoin(str(response.url), response.headers["location"])
            if target.startswith(ORIGIN):
                return httpx2.URL(target)
            response = await http.get(target)
            continue
        assert response.status_code == 200, response.text
        action = re.search(r'action="([^"]*)"', response.text)
        prompt = re.search(r'name="prompt" value="(\w+)"', response.text)
        assert action, response.text
        fields = {"prompt": prompt[1] if prompt else "", "login": name, "password": "x"}
        response = await http.post(urljoin(str(response.url), unescape(action[1])), data=fields)
    raise AssertionError("the issuer does not come to an end")


async def logged_in(visitor: Visitor, issuer: str, name: str) -> tuple[httpx2.Response, httpx2.URL]:
    """Log in at oidc-provider; return our response, and its answer."""
    asked = (await visitor.get(f"{START}?next=/console/account")).headers["location"]
    assert asked.startswith(issuer)
    async with httpx2.AsyncClient() as http:
        answer = await answer_of(http, asked, name)
    return await visitor.get(f"{answer.path}?{answer.query.decode()}"), answer


@pytest.mark.node_clients
@pytest.mark.parametrize(
    ("method", "in_token"),
    [("none", "no"), ("client_secret_basic", "no"), ("client_secret_post", "yes")],
)
async def test_a_login_at_oidc_provider(
    database: DatabaseSettings, method: str, in_token: str
) -> None:
    secret = None if method == "none" else "a secret: +&%"
    given = {"SECRET": secret or "", "METHOD": method, "IN_TOKEN": in_token}
    async with (
        node_issuer(**given) as issuer,
        console_of(database, issuer, secret) as console,
        console.visitor() as visitor,
        console.visitor() as other,
    ):
        response, answer = await logged_in(visitor, issuer, "ann")
        account = await visitor.get("/console/account")
        replayed = await visitor.get(f"{answer.path}?{answer.query.decode()}")
        stolen = await other.get(f"{answer.path}?{answer.query.decode()}")
        without, _ = await logged_in(other, issuer, "eve")

    assert (response.status_code, response.headers["location"]) == (303, "/console/account")
    assert dict(answer.params)["iss"] == issuer, "it supports RFC 9207"
    assert "ann" in account.text
    assert "support" in account.text
    assert replayed.headers["location"] == "/console"
    assert (stolen.status_code, without.status_code) == (401, 403)


@pytest.mark.node_clients
async def test_oidc_provider_refuses_a_code_that_was_used(database: DatabaseSettings) -> None:
    async with (
        node_issuer() as issuer,
        console_of(database, issuer) as console,
        console.visitor() as visitor,
    ):
        asked = (await visitor.get(START)).headers["location"]
        cookie = visitor.http.cookies["mailqueue_login"]
        async with httpx2.AsyncClient() as http:
            answer = await answer_of(http, asked, "ann")
        first = await visitor.get(f"{answer.path}?{answer.query.decode()}")
        async with console.visitor() as again:
            again.http.cookies.set("mailqueue_login", cookie)
            second = await again.get(f"{answer.path}?{answer.query.decode()}")

    assert (first.status_code, second.status_code) == (303, 401)
    assert "invalid_grant" in second.text


@pytest.mark.deep
async def test_a_login_at_oidc_provider_mock(database: DatabaseSettings) -> None:
    async with (
        python_issuer() as issuer,
        console_of(database, issuer, "any") as console,
        console.visitor() as visitor,
        httpx2.AsyncClient() as http,
    ):
        statuses = {}
        for name in ("eve", "ann"):
            asked = (await visitor.get(f"{START}?next=/console/users")).headers["location"]
            answer = (await http.post(asked, data={"sub": name})).headers["location"]
            response = await visitor.get(answer.removeprefix(ORIGIN))
            statuses[name] = response.status_code
        page = await visitor.get("/console/users")
        denied = (await visitor.get(START)).headers["location"]
        state = dict(httpx2.URL(denied).params)["state"]
        answer = (await http.post(denied, data={"action": "deny"})).headers["location"]
        refusal = await visitor.get(f"{BACK}?{urlsplit(answer).query}&state={state}")

    assert statuses == {"eve": 403, "ann": 303}
    assert "Ann" in page.text
    assert refusal.status_code == 401
    assert "access_denied" in refusal.text


@pytest.mark.node_clients
@pytest.mark.browser
async def test_a_browser_logs_in_and_confirms_at_an_issuer_of_another_site(
    database: DatabaseSettings,
) -> None:
    """The issuer is `localhost`, which browsers take for another site than 127.0.0.1."""
    complaints: list[str] = []
    with bind("127.0.0.1", 0, option="--port") as sock:
        url = f"http://127.0.0.1:{sock.getsockname()[1]}"
        async with (
            node_issuer(HOST="localhost", BACK=f"{url}{BACK}") as issuer,
            console_of(database, issuer, url=url) as console,
            listening(console.app, sock),
            chromium() as browser,
        ):
            page = await browser.new_page()
            page.on("pageerror", lambda error: complaints.append(str(error)))
            await page.goto(f"{url}/console/users")
            await page.get_by_role("link", name="Log in at localhost").click()
            await at_provider(page, issuer, url)
            await page.get_by_role("heading", name="Users").wait_for()
            assert page.url == f"{url}/console/users", "the page that was asked for"

            async with console.connection() as conn:
                await conn.execute(console.unconfirmed("root"))
            await page.get_by_role("link", name="Add a user").click()
            await page.get_by_role("heading", name="Confirm that it is you").wait_for()
            await page.get_by_role("link", name="Log in again at").click()
            await at_provider(page, issuer, url)
            await page.get_by_role("heading", name="Add a user").wait_for()

    assert complaints == []


async def at_provider(page: Page, issuer: str, url: str) -> None:
    """Log in as root, and consent if asked, until the browser is back at the console."""
    await page.wait_for_url(f"{issuer}/**")
    while page.url.startswith(issuer):
        if await page.locator("input[name=login]").count():
            await page.locator("input[name=login]").fill("root")
            await page.locator("input[name=password]").fill("x")
        await page.locator("button[type=submit]").first.click()
        await page.wait_for_load_state()
    assert page.url.startswith(url)
