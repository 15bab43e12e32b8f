"""Runs the whole platform in one command: PostgreSQL, schema, API, mail trap and workers."""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from mailqueue.admin.users import manage
from mailqueue.api.app import Application
from mailqueue.api.http.server import bind, listening, local_url
from mailqueue.api.metrics.serving import metrics_beside
from mailqueue.contract.processes import Running
from mailqueue.core.errors import ConfigError
from mailqueue.core.services.model import InUp
from mailqueue.core.services.registry import LISTENERS, SERVICES
from mailqueue.db.migrate import migrate
from mailqueue.db.pool import Pool, borrow, open_pool
from mailqueue.db.replica import open_replica
from mailqueue.embedded.server import embedded_server
from mailqueue.mail.send.partitions import keep_partitions
from mailqueue.operations.services import reporting
from mailqueue.process.groups import light_children, send_children
from mailqueue.process.pool import WorkerPool
from mailqueue.process.starting.client import ForkServer
from mailqueue.projects.keys.local import keep_local_key
from mailqueue.senders.rates import keep_max_send_rate
from mailqueue.senders.trap_account import LOOPBACK, point_to_trap
from mailqueue.settings.environment import DatabaseSettings, DatabaseSource, Settings
from mailqueue.settings.listeners import Surface
from mailqueue.settings.tracking import TrackingSettings
from mailqueue.trap.server import trap_server
from mailqueue.vault.masterkey import FILE_NAME, create_master_key, master_key_of
from mailqueue.vault.vault import check_master_key
from mailqueue.wiring.api import build_services
from mailqueue.wiring.console import console_pages
from mailqueue.wiring.listeners import listeners_of
from mailqueue.wiring.services.running import (
    ListeningService,
    ServiceContext,
    beside_up,
    listen,
)

Say = Callable[[str], None]


async def run_everything(
    settings: Settings,
    stop: asyncio.Event,
    *,
    say: Say,
    ready: Callable[[Running], None],
    forks: ForkServer,
) -> None:
    """Start all parts, and stop them in order when told to.

    `ready` is called when all of them answer: the API, SMTP, and every worker process; `forks`
    starts these.

    Raises:
        ConfigError: a setting stands in the way.
        Conflict: another `up` has the data folder.
        Unavailable: PostgreSQL is away.
    """
    async with AsyncExitStack() as stack:
        _check_trap(settings)
        database = await stack.enter_async_context(_database(settings, say))
        settings = replace(settings, database=database)
        sockets = {
            surfaces: stack.enter_context(bind(host, port, option=option))
            for surfaces, (host, port, option) in listeners_of(settings).items()
        }
        settings = _with_public_url(settings, sockets)
        _keep_master_key(settings, say)
        await migrate(database, progress=say)
        pool = await stack.enter_async_context(
            open_pool(database, application_name="mailqueue/up", min_size=2)
        )
        replica = await stack.enter_async_context(open_replica(database))
        trap = await stack.enter_async_context(_trap(settings, pool))
        api_key = await _prepare(settings, pool, trap)
        services = build_services(settings, pool)
        pages = console_pages(settings, pool, replica=replica, services=services)
        app = Application(settings, pool, services=services, replica=replica, pages=pages)
        urls: dict[Surface, str] = {}
        for surfaces, sock in sockets.items():
            url = await stack.enter_async_context(listening(app.on(surfaces), sock))
            urls |= dict.fromkeys(surfaces, url)
        api, console = urls[Surface.API], settings.console.url or urls[Surface.CONSOLE]
        context = ServiceContext(settings, pool, stop, report=say, is_in_up=True)
        beside = await stack.enter_async_context(_beside(context))
        running_here = dict.fromkeys(_parts(trap), _always) | {
            name: one.is_running for name, one in beside.items()
        }
        await stack.enter_async_context(reporting(database, running_here, is_in_up=True))
        metrics = await stack.enter_async_context(metrics_beside(settings, pool=pool))
        groups = [send_children(settings), light_children(settings)]
        running = Running(
            ready=True,
            api=api,
            database=database.url.reveal(),
            trap_smtp=local_url("smtp", settings.trap.host, trap.port) if trap else None,
            trap=f"{api}/trap" if trap else None,
            data=str(settings.data),
            api_key=api_key,
            submission=beside["submission"].url if "submission" in beside else None,
            console=f"{console}/console",
            console_link=await _first_console_link(settings, pool, console),
            public=urls[Surface.PUBLIC],
            metrics=metrics,
        )
        # Ends when told to stop and all mail in flight is recorded.
        await WorkerPool(settings, groups, forks).run(stop, ready=lambda: ready(running))


@asynccontextmanager
async def _beside(context: ServiceContext) -> AsyncIterator[dict[str, ListeningService]]:
    """Run the listeners beside the other parts; yield those that are on, by name."""
    found = dict[str, ListeningService]()
    async with AsyncExitStack() as stack:
        for service in beside_up(SERVICES):
            listening_service = await stack.enter_async_context(listen(service, context))
            if listening_service is not None:
                found[service.name] = listening_service
        yield found


def _parts(trap: "_Trap | None") -> list[str]:
    """Return the listeners that are parts of `up`, by name."""
    return [
        one.name
        for one in LISTENERS
        if one.in_up is InUp.PART and (one.name != "trap" or trap is not None)
    ]


def _always() -> bool:
    return True


def _check_trap(settings: Settings) -> None:
    hosts = (settings.trap.host, settings.api.host)
    if settings.trap.is_on and settings.trap.password is None and not all(map(_is_loopback, hosts)):
        raise ConfigError(
            "MAILQUEUE_TRAP_PASSWORD is needed where the trap is reachable from other machines: "
            "set it, listen on 127.0.0.1, or turn the trap off with --no-trap"
        )


def _with_public_url(
    settings: Settings, sockets: Mapping[frozenset[Surface], socket.socket]
) -> Settings:
    """Return the settings with links in mail that lead here, if this server is local only."""
    sock = next(each for surfaces, each in sockets.items() if Surface.PUBLIC in surfaces)
    host, port = sock.getsockname()[:2]
    if settings.tracking.public_url is not None or not _is_loopback(host):
        return settings
    return replace(settings, tracking=TrackingSettings(local_url("http", host, port)))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@asynccontextmanager
async def _database(settings: Settings, say: Say) -> AsyncIterator[DatabaseSettings]:
    """Yield the server that was named, or a private one for as long as we run."""
    if settings.database.source in (DatabaseSource.GIVEN, DatabaseSource.LIBPQ):
        _make_folder(settings)
        yield settings.database
        return
    say("starting PostgreSQL")
    async with embedded_server(settings.data, service_user=settings.service_user) as server:
        given = settings.database
        yield replace(server.database, pooler=given.pooler)


def _make_folder(settings: Settings) -> None:
    try:
        settings.data.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise ConfigError(
            f"{settings.data} cannot be made: {exc.strerror}; name another folder with --data"
        ) from exc


def _keep_master_key(settings: Settings, say: Say) -> None:
    if settings.master_key is None and not (settings.data / FILE_NAME).exists():
        create_master_key(settings.data)
        say(
            f"made a master key in {settings.data / FILE_NAME}: "
            "keep a copy, sealed passwords need it"
        )


@asynccontextmanager
async def _trap(settings: Settings, pool: Pool) -> AsyncIterator["_Trap | None"]:
    """Run the trap; our own workers reach it without a password, on loopback only."""
    given = settings.trap
    if not given.is_on:
        yield None
        return
    public = trap_server(
        pool, settings.database, host=given.host, port=given.port, password=given.password
    )
    async with public as outer:
        if given.password is None:
            yield _Trap(outer.port, outer.port)
            return
        async with trap_server(pool, settings.database, host=LOOPBACK, port=0) as inner:
            yield _Trap(outer.port, inner.port)


async def _first_console_link(settings: Settings, pool: Pool, console: str) -> str | None:
    """Return a new link that sets the password of the first user of the console."""
    async with borrow(pool, settings.database) as conn:
        made = await manage.first_link(conn, by="mailqueue up")
    return None if made is None else manage.link_url(console, made)


@dataclass(frozen=True, slots=True)
class _Trap:
    port: int
    port_of_workers: int


async def _prepare(settings: Settings, pool: Pool, trap: _Trap | None) -> str | None:
    """Bring rows up to what runs here; return the API key of this machine."""
    async with borrow(pool, settings.database) as conn:
        await check_master_key(conn, master_key_of(settings))
        await keep_partitions(conn)
        await keep_max_send_rate(conn, settings.workers.max_send_rate)
        await point_to_trap(conn, port=trap.port_of_workers if trap else None)
        return await keep_local_key(conn, settings.data)
