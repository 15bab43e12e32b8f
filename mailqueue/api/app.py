"""What is served by HTTP: endpoints, links in mail, health probes, pages of trap and console."""

from collections.abc import Iterable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from mailqueue.api.compat.routing import CompatRouting, answer_any_fault
from mailqueue.api.http.dependencies import Services
from mailqueue.api.http.docs.documents import document_routes
from mailqueue.api.http.health import health_routes
from mailqueue.api.http.hosts import HostRouting, TrackingDomains
from mailqueue.api.http.middleware import RequestMiddleware
from mailqueue.api.http.responses import answer_error, answer_http_error
from mailqueue.api.http.router import Routing
from mailqueue.api.http.runtime import Runtime
from mailqueue.api.http.slashes import Slashes
from mailqueue.api.public.inbound import inbound_routes
from mailqueue.api.public.installing import slack_routes
from mailqueue.api.public.routes import people_routes
from mailqueue.api.public.slack_actions import slack_action_routes
from mailqueue.api.public.tracking import TrackingRoute
from mailqueue.api.public.whatsapp import whatsapp_routes
from mailqueue.api.table import ENDPOINTS, SHAPED, SHAPES
from mailqueue.core.errors import MailqueueError
from mailqueue.db.pool import Pool
from mailqueue.db.replica import Replica
from mailqueue.portal.app import portal_routes
from mailqueue.settings.environment import Settings
from mailqueue.settings.listeners import Surface
from mailqueue.tracking.domains import confirmed_domains
from mailqueue.trap.access import require_password
from mailqueue.trap.pages import PATHS, trap_pages


class Application:
    """What is served by HTTP, in parts: each listener serves some of its surfaces.

    The caller owns the pool and keeps it open while it serves. `pages` are routes of the console.
    """

    def __init__(
        self,
        settings: Settings,
        pool: Pool,
        *,
        with_api: bool = True,
        services: Services | None = None,
        replica: Replica | None = None,
        pages: Sequence[BaseRoute] = (),
    ) -> None:
        self._settings = settings
        self._parts: list[tuple[Surface | None, Sequence[BaseRoute]]] = []  # None: of every surface
        self._domains: TrackingDomains | None = None
        self._apps: dict[tuple[frozenset[Surface], bool], ASGIApp] = {}
        runtime = Runtime(settings, pool, services or Services(), replica) if with_api else None
        if runtime is not None:
            self._domains = TrackingDomains(lambda: _tracking_domains(runtime))
            public_url = settings.tracking.public_url
            self._parts = [
                (Surface.PUBLIC, [TrackingRoute(runtime)]),
                (Surface.API, [Routing(ENDPOINTS, runtime, elsewhere=SHAPED)]),
                (Surface.API, document_routes(ENDPOINTS, public_url=public_url)),
                (None, health_routes(pool, settings.database)),
                (Surface.PUBLIC, [*people_routes(runtime), *inbound_routes(runtime)]),
                (Surface.PUBLIC, [*whatsapp_routes(runtime), *slack_routes(runtime)]),
                (Surface.PUBLIC, slack_action_routes(runtime)),
                (Surface.PUBLIC, _persons_pages(runtime)),
            ]
        elif pages:
            self._parts = [(None, health_routes(pool, settings.database))]
        if settings.trap.is_on:
            trap = trap_pages(pool, settings.database, password=settings.trap.password)
            self._parts.append((Surface.API, [Route(path, trap) for path in PATHS]))
        self._parts.append((Surface.CONSOLE, pages))
        if runtime is not None:  # last, because they also answer unknown paths below their roots
            self._parts.append((Surface.API, [CompatRouting(SHAPES, runtime)]))

    def on(self, surfaces: Iterable[Surface]) -> ASGIApp:
        """Return the application of a listener for some surfaces.

        Raises:
            ConfigError: the trap's pages would be reachable from outside without a password.
        """
        served = frozenset(surfaces)
        if self._settings.trap.is_on and Surface.API in served:
            require_password(self._settings.api.host, self._settings.trap.password)
        listeners = self._settings.listeners
        return RequestMiddleware(HostRouting(self._app_of, served, listeners, self._domains))

    def _app_of(self, surfaces: frozenset[Surface], has_health: bool) -> ASGIApp:
        key = (surfaces, has_health)
        if key not in self._apps:
            self._apps[key] = self._made(surfaces, has_health=has_health)
        return self._apps[key]

    def _made(self, surfaces: frozenset[Surface], *, has_health: bool) -> ASGIApp:
        app = Starlette(
            routes=[
                route
                for surface, routes in self._parts
                if (has_health if surface is None else surface in surfaces)
                for route in routes
            ],
            exception_handlers={
                HTTPException: answer_http_error,
                MailqueueError: answer_error,
                Exception: answer_any_fault,
            },
        )
        # starlette's redirect would use the request's Host header, which the client chooses.
        app.router.redirect_slashes = False
        app.router.default = Slashes(app.router)
        return app


def _persons_pages(runtime: Runtime) -> list[BaseRoute]:
    services = runtime.services
    return portal_routes(
        runtime.settings,
        runtime.pool,
        passwords=services.passwords,
        slack_app=services.slack_app,
        phone_sender=services.phone_sender,
        inbox_consents=services.inbox_consents,
    )


async def _tracking_domains(runtime: Runtime) -> frozenset[str]:
    async with runtime.borrow() as conn:
        return await confirmed_domains(conn)


def create_app(
    settings: Settings,
    pool: Pool,
    *,
    with_api: bool = True,
    services: Services | None = None,
    replica: Replica | None = None,
    pages: Sequence[BaseRoute] = (),
) -> ASGIApp:
    """Return one application with every surface; the caller owns the pool.

    The pages of the mail trap are included when it is on; without the API they are served alone.

    Raises:
        ConfigError: the trap's pages would be reachable from outside without a password.
    """
    made = Application(
        settings, pool, with_api=with_api, services=services, replica=replica, pages=pages
    )
    return made.on(Surface)
