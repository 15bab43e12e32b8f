"""`/channels/slack/installed`: where Slack sends a person after the installation of the app."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from mailqueue.api.http.runtime import Runtime
from mailqueue.core.errors import Conflict, InvalidField, Locked
from mailqueue.telemetry.log import get_logger
from mailqueue.vault.masterkey import master_key_of
from mailqueue.watch import installing

MAX_CHARACTERS = 1000
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",  # its address has a code
    "X-Content-Type-Options": "nosniff",
}
_log = get_logger(__name__)


def slack_routes(runtime: Runtime) -> list[BaseRoute]:
    """Return the route that Slack sends persons back to."""
    return [Route(installing.PATH, _Installed(runtime).respond, methods=["GET"])]


class _Installed:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def respond(self, request: Request) -> Response:
        """Connect the person; each link of an installation works once."""
        if request.method != "GET":  # a program that looks where the address leads to
            return Response(status_code=HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": "GET"})
        runtime, app = self._runtime, self._runtime.services.slack_app
        public_url = runtime.settings.tracking.public_url
        state, code = (request.query_params.get(name, "") for name in ("state", "code"))
        if app is None or public_url is None or not 0 < len(state) <= MAX_CHARACTERS:
            return _over()
        async with runtime.borrow() as conn:
            begun = await installing.take(
                conn, state, request.cookies, is_encrypted=request.url.scheme == "https"
            )
        if begun is None:
            return _over()
        if not 0 < len(code) <= MAX_CHARACTERS:
            return _shown("The installation was cancelled. Begin again to be notified in Slack.")
        # No transaction is open meanwhile.
        found = await app.exchange(code, installing.redirect_url(public_url))
        if isinstance(found, str):
            _log.warning("slack.not_installed", project=str(begun.project_id), why=found)
            return _shown("Slack did not confirm the installation. Begin again.", 502)
        try:
            async with runtime.borrow() as conn:
                one = await installing.end(
                    conn, begun, found, master=master_key_of(runtime.settings)
                )
        except (Conflict, InvalidField, Locked) as exc:
            _log.warning("slack.not_connected", project=str(begun.project_id), why=str(exc))
            return _shown("The channel cannot be connected now. Begin again later.", 503)
        _log.info("slack.installed", channel=str(one.id))
        return _shown("You are notified in Slack from now on. This page can be closed.")


def _over() -> Response:
    # One answer to unknown, used and old links.
    return _shown("This link was used, or is over. Begin again.", HTTPStatus.NOT_FOUND)


def _shown(text: str, status: int = HTTPStatus.OK) -> Response:
    return PlainTextResponse(f"{text}\n", status, _HEADERS)
