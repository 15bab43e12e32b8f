"""The HTTP API as one application: the endpoints, health probes and the pages of the mail trap."""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from mailqueue.api.compat.routing import CompatRouting, answer_any_fault
from mailqueue.api.http.dependencies import Services
from mailqueue.api.http.docs.documents import document_routes
from mailqueue.api.http.health import health_routes
from mailqueue.api.http.middleware import RequestMiddleware
from mailqueue.api.http.responses import answer_error, answer_http_error
from mailqueue.api.http.router import Routing
from mailqueue.api.http.runtime import Runtime
from mailqueue.api.http.slashes import Slashes
from mailqueue.api.public.inbound import inbound_routes
from mailqueue.api.public.routes import people_routes
from mailqueue.api.public.tracking import TrackingRoute
from mailqueue.api.table import ENDPOINTS, SHAPES
from mailqueue.core.errors import MailqueueError
from mailqueue.db.pool import Pool
from mailqueue.settings.environment import Settings
from mailqueue.trap.access import require_password
from mailqueue.trap.pages import PATHS, trap_pages


def create_app(
    settings: Settings,
    pool: Pool,
    *,
    with_api: bool = True,
    services: Services | None = None,
    pages: Sequence[BaseRoute] = (),
) -> ASGIApp:
    """Return the application; the caller owns the pool and keeps it open while it serves.

    The pages of the mail trap are included when it is on; without the API they are served alone.
    `pages` are routes of other pages beside them.

    Raises:
        ConfigError: the trap's pages would be reachable from outside without a password.
    """
    routes: list[BaseRoute] = []
    shapes: list[BaseRoute] = []  # last, because they also answer unknown paths below their roots
    if with_api:
        runtime = Runtime(settings, pool, services or Services())
        routes = [
            TrackingRoute(runtime),
            Routing(ENDPOINTS, runtime),
            *document_routes(ENDPOINTS, public_url=settings.tracking.public_url),
            *health_routes(pool, settings.database),
            *people_routes(runtime),
            *inbound_routes(runtime),
        ]
        shapes = [CompatRouting(SHAPES, runtime)]
    if settings.trap.is_on:
        require_password(settings.api.host, settings.trap.password)
        trap = trap_pages(pool, settings.database, password=settings.trap.password)
        routes += [Route(path, trap) for path in PATHS]
    app = Starlette(
        routes=[*routes, *pages, *shapes],
        exception_handlers={
            HTTPException: answer_http_error,
            MailqueueError: answer_error,
            Exception: answer_any_fault,
        },
    )
    # starlette's redirect would use the request's Host header, which the client chooses.
    app.router.redirect_slashes = False
    app.router.default = Slashes(app.router)
    return RequestMiddleware(app)
