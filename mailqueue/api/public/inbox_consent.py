"""`/oauth/gmail`: where Google sends the owner of an inbox back to.

The answer leads on to a page without the state and the code in its address.
"""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from mailqueue.api.http.runtime import Runtime
from mailqueue.api.public.rendering import page
from mailqueue.api.public.wording import PageTexts, words_for
from mailqueue.core.errors import MailqueueError, NotFound, Unauthorized
from mailqueue.ports.mailbox import ConsentedInbox
from mailqueue.telemetry.log import get_logger
from mailqueue.vault.masterkey import master_key_of
from mailqueue.watch import gmail
from mailqueue.watch.gmail import CALLBACK_PATH, callback_of
from mailqueue.watch.model import PendingConsent

RESULT_PATH = CALLBACK_PATH + "/{result}"
MAX_CODE_CHARACTERS = 2000
_BY = "consent at Google"
"""Actor in the audit."""
_RESULTS = frozenset({"connected", "refused"})
_log = get_logger(__name__)


class ConsentPages:
    """The endpoint, and the pages that it leads to."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def respond(self, request: Request) -> Response:
        """Use up the state, connect the inbox, and lead to the page that says so."""
        if request.method != "GET":  # a program that looks where the address leads to
            return Response(status_code=HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": "GET"})
        try:
            await self._connect(request.query_params.get("state", ""), request)
        except NotFound:
            return page(
                "fault.html", words=_words(request), status=HTTPStatus.NOT_FOUND, what="missing"
            )
        except MailqueueError as exc:
            reason = str(exc) if isinstance(exc, Unauthorized) else type(exc).__name__
            _log.warning("inbox.not_connected", reason=reason)
            return _to("refused")
        return _to("connected")

    async def show(self, request: Request) -> Response:
        """Return the page of a result."""
        result = request.path_params["result"]
        if result not in _RESULTS:
            raise NotFound("page", result[:40])
        return page("fault.html", words=_words(request), what=f"inbox_{result}")

    async def _connect(self, state: str, request: Request) -> None:
        consents, settings = self._runtime.services.inbox_consents, self._runtime.settings
        origin = settings.tracking.public_url
        if consents is None or origin is None:
            raise NotFound("page", CALLBACK_PATH)
        async with self._runtime.borrow() as conn:
            pending = await gmail.take(
                conn, state, request.cookies, is_encrypted=request.url.scheme == "https"
            )
        code = request.query_params.get("code", "")
        if "error" in request.query_params or not 0 < len(code) <= MAX_CODE_CHARACTERS:
            raise Unauthorized("the owner of the inbox did not consent")
        consented = await consents.redeem(code, state, back=callback_of(origin))
        try:
            async with self._runtime.transaction(pending.project_id, by=_BY) as conn:
                await gmail.connect(
                    conn, pending, consented, master=master_key_of(settings), by=_BY
                )
        except MailqueueError:
            await self._give_back(pending, consented)
            raise

    async def _give_back(self, pending: PendingConsent, consented: ConsentedInbox) -> None:
        """Revoke a consent that connected nothing, and write that to the audit log."""
        async with self._runtime.borrow() as conn:
            tokens = await gmail.unused(conn, consented)
            await gmail.note(conn, pending.project_id, pending.user_id, result="refused", by=_BY)
        await gmail.revoke(self._runtime.services.inbox_consents, tokens)


def _words(request: Request) -> PageTexts:
    return words_for(
        chosen=request.query_params.get("lang"),
        accepted=request.headers.get("accept-language", ""),
        of_mail=None,
    )


def _to(result: str) -> Response:
    headers = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    return RedirectResponse(f"{CALLBACK_PATH}/{result}", HTTPStatus.SEE_OTHER, headers)
