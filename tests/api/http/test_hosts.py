"""Listeners and host names: each surface on its own address, and a tracking domain alone."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import httpx2
import pytest

from mailqueue.api.app import Application
from mailqueue.api.http.hosts import REFRESH_SECONDS, TrackingDomains, host_of
from mailqueue.api.http.server import bind, listening
from mailqueue.console.app import console_routes
from mailqueue.core.errors import Unavailable
from mailqueue.db.pool import connect, open_pool
from mailqueue.settings.environment import DatabaseSettings, Settings
from mailqueue.settings.listeners import ListenerSettings, Surface, hosts_of, names_of
from mailqueue.wiring.api import build_services
from mailqueue.wiring.console import message_sources
from mailqueue.wiring.listeners import listeners_of
from tests import make
from tests.api.support.calling import settings_for

pytestmark = pytest.mark.anyio

API, CONSOLE, PUBLIC = "/v1/emails", "/console/login", "/t/o/not-a-token"
# The status of each path where its surface is served; links take no POST.
SERVED = {API: 401, CONSOLE: 200, PUBLIC: 405, "/livez": 200}


@asynccontextmanager
async def served(settings: Settings) -> AsyncIterator[dict[Surface, str]]:
    """Serve on the sockets of the settings, as `mailqueue up` does; yield each surface's URL."""
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(open_pool(settings.database))
        pages = console_routes(settings, pool, message_sources(settings))
        app = Application(settings, pool, services=build_services(settings, pool), pages=pages)
        urls: dict[Surface, str] = {}
        for surfaces, (host, port, option) in listeners_of(settings).items():
            sock = stack.enter_context(bind(host, port, option=option))
            url = await stack.enter_async_context(listening(app.on(surfaces), sock))
            urls |= dict.fromkeys(surfaces, url)
        yield urls


def with_listeners(database: DatabaseSettings, **given: object) -> Settings:
    settings = settings_for(database)
    listeners = ListenerSettings(**given)  # type: ignore[arg-type]
    return replace(settings, api=replace(settings.api, port=0), listeners=listeners)


async def statuses(url: str, host: str | None = None, **headers: str) -> dict[str, int]:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx2.AsyncClient(base_url=url) as http:
        if host is not None:
            given["Host"] = host
        asked = {path: "POST" if path == PUBLIC else "GET" for path in SERVED}
        return {
            path: (await http.request(method, path, headers=given)).status_code
            for path, method in asked.items()
        }


async def test_one_address_serves_everything_by_default(database: DatabaseSettings) -> None:
    async with served(with_listeners(database)) as urls:
        assert len(set(urls.values())) == 1
        for host in (None, "mail.example.com", "anything"):
            assert await statuses(urls[Surface.API], host) == SERVED


async def test_each_surface_has_a_port_of_its_own(database: DatabaseSettings) -> None:
    async with served(with_listeners(database, public_port=0, console_port=0)) as urls:
        assert len(set(urls.values())) == 3
        found = {surface: await statuses(url) for surface, url in urls.items()}

    missing = dict.fromkeys(SERVED, 404)
    assert found[Surface.API] == missing | {API: 401, "/livez": 200}
    assert found[Surface.CONSOLE] == missing | {CONSOLE: 200, "/livez": 200}
    assert found[Surface.PUBLIC] == missing | {PUBLIC: 405, "/livez": 200}


async def test_a_name_answers_for_its_surfaces_only(database: DatabaseSettings) -> None:
    names = names_of(
        {
            Surface.API: ["api.example.com"],
            Surface.CONSOLE: ["mail.example.com"],
            Surface.PUBLIC: ["links.example.com", "mail.example.com"],
        }
    )
    async with served(with_listeners(database, names=names)) as urls:
        url = urls[Surface.API]
        api = await statuses(url, "API.example.com:443")
        both = await statuses(url, "mail.example.com.")
        links = await statuses(url, "links.example.com", X_Forwarded_Host="api.example.com")
        unknown = await statuses(url, "other.example.com", X_Forwarded_Host="api.example.com")

    missing = dict.fromkeys(SERVED, 404)
    assert api == missing | {API: 401, "/livez": 200}
    assert both == missing | {CONSOLE: 200, PUBLIC: 405, "/livez": 200}
    assert links == missing | {PUBLIC: 405}
    assert unknown == missing | {"/livez": 200}


async def test_a_projects_tracking_domain_serves_links_alone(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        for name, domain, is_confirmed in (
            ("shop", "links.shop.example", True),
            ("blog", "links.blog.example", False),
            ("thief", "mail.example.com", True),
        ):
            await make.project(conn, name)
            await conn.execute(
                "UPDATE mailqueue.projects SET tracking_domain = %s,"
                " tracking_checked_at = CASE WHEN %s THEN now() END WHERE name = %s",
                (domain, is_confirmed, name),
            )
    own = hosts_of("https://mail.example.com/x", None)
    async with served(with_listeners(database, own_hosts=own)) as urls:
        url = urls[Surface.API]
        links = await statuses(url, "links.shop.example", X_Forwarded_Host="mail.example.com")
        unconfirmed = await statuses(url, "links.blog.example")
        ours = await statuses(url, "mail.example.com", X_Forwarded_Host="links.shop.example")

    assert links == dict.fromkeys(SERVED, 404) | {PUBLIC: 405}
    assert unconfirmed == SERVED
    assert ours == SERVED


async def test_tracking_domains_are_read_now_and_then_and_kept_without_a_database() -> None:
    clock, answers, asked = [0.0], [frozenset({"a.example"})], [0]

    async def read() -> frozenset[str]:
        asked[0] += 1
        if not answers:
            raise Unavailable("the database is away")
        return answers[0]

    domains = TrackingDomains(read, now=lambda: clock[0])
    assert await domains.has("a.example")
    assert not await domains.has("b.example")
    assert asked == [1]
    answers[0] = frozenset({"b.example"})
    clock[0] += REFRESH_SECONDS + 1
    assert await domains.has("b.example")
    answers.clear()
    clock[0] += REFRESH_SECONDS + 1
    assert await domains.has("b.example")
    assert asked == [3]


@pytest.mark.parametrize(
    ("given", "host"),
    [
        (b"API.Example.com:8025", "api.example.com"),
        (b"api.example.com.", "api.example.com"),
        (b"[::1]:8025", "[::1]"),
        (b"", ""),
        (b"\xff" * 1000, "\xff" * 255),
    ],
)
def test_the_host_is_read_without_port_and_case(given: bytes, host: str) -> None:
    assert host_of({"headers": [(b"host", given)]}) == host


def test_surfaces_with_the_same_address_share_a_listener(database: DatabaseSettings) -> None:
    settings = with_listeners(database, public_port=8081, console_port=8081)
    both = frozenset({Surface.CONSOLE, Surface.PUBLIC})
    assert set(listeners_of(settings)) == {frozenset({Surface.API}), both}
    same = replace(settings, api=replace(settings.api, port=8081))
    assert set(listeners_of(same)) == {frozenset(Surface)}
    assert set(listeners_of(settings, (Surface.API, Surface.PUBLIC))) == {
        frozenset({Surface.API}),
        frozenset({Surface.PUBLIC}),
    }
