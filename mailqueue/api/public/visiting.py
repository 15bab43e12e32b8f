"""Who follows a link of a mail: what their token opens, and what may be kept of them."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from mailqueue.api.http.body import body_of
from mailqueue.api.http.runtime import Runtime
from mailqueue.api.public.rendering import page
from mailqueue.api.public.wording import Words, words_for
from mailqueue.core.errors import ConfigError, Locked, SealBroken, Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.suppression.subscriptions import choices
from mailqueue.suppression.subscriptions.model import Reader
from mailqueue.telemetry.log import get_logger
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.tokens import InvalidToken, Kind, Seals, Token

FORM_BYTES = 64 * 1024
_AGENT_CHARACTERS = 500
_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Visit:
    """Somebody with a token that opens, and the request they came with."""

    request: Request
    runtime: Runtime
    seals: Seals
    reader: Reader
    token: Token

    @property
    def words(self) -> Words:
        return _words(self.request, self.reader.language)

    @property
    def user_agent(self) -> str | None:
        """Return what they browse with; None where they ask not to be known by it."""
        headers = self.request.headers
        if headers.get("dnt") == "1" or headers.get("sec-gpc") == "1":
            return None
        agent = "".join(filter(str.isprintable, headers.get("user-agent", "")))
        return agent[:_AGENT_CHARACTERS] or None

    def connection(self) -> AbstractAsyncContextManager[Conn]:
        """Lend a connection in a transaction that acts for the project of the mail."""
        return self.runtime.transaction(self.reader.project_id, by="recipient")

    def path_to(self, kind: Kind) -> str:
        """Return the path of another page for the same person."""
        token = self.seals.seal(Token(kind, self.token.email_id, self.token.recipient))
        return f"/t/u/{token}" if kind is Kind.UNSUBSCRIBE else f"/pref/{token}"

    @property
    def shown_address(self) -> str:
        """Return the address so that its owner knows it, and whoever looks over does not."""
        local, _, domain = self.reader.address.rpartition("@")
        return f"{local[:2] if len(local) > 3 else local[:1]}•••@{domain}"


Handler = Callable[[Visit], Awaitable[Response]]


class Visiting:
    """Stands before a page: finds who follows a link, and answers where nobody can be found."""

    def __init__(self, runtime: Runtime, keyring: Keyring, kind: Kind, handler: Handler) -> None:
        self._runtime = runtime
        self._keyring = keyring
        self._kind = kind
        self._handler = handler

    async def answer(self, request: Request) -> Response:
        """Answer a request; every fault is a page too."""
        try:
            return await self._handler(await self._visit(request))
        except InvalidToken:
            return _fault(request, "missing", HTTPStatus.NOT_FOUND)
        except HTTPException as exc:
            return _fault(request, "away", HTTPStatus(exc.status_code))
        except (Unavailable, ConfigError, Locked, SealBroken) as exc:
            _log.warning("page.failed", fault=type(exc).__name__)
            return _fault(request, "away", HTTPStatus.SERVICE_UNAVAILABLE)

    async def _visit(self, request: Request) -> Visit:
        text: str = request.path_params["token"]
        async with self._runtime.borrow() as conn:
            seals = await self._keyring.opener(conn, text)
            token = seals.open(text, self._kind)
            reader = await choices.reader_of(conn, token.email_id, recipient=token.recipient)
        if reader is None or reader.project_id != seals.project_id:
            raise InvalidToken
        return Visit(request, self._runtime, seals, reader, token)


async def form_of(request: Request) -> dict[str, str]:
    """Read a form, urlencoded or multipart; of fields that come twice the last counts.

    Raises:
        HTTPException: it is too large, too slow, or no form.
    """
    body = await body_of(request, most=FORM_BYTES)
    if "content-type" not in request.headers:
        return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=500))

    async def again() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    form = await Request(request.scope, again).form(max_files=0, max_fields=500)
    return {name: value for name, value in form.multi_items() if isinstance(value, str)}


def _fault(request: Request, what: str, status: HTTPStatus) -> Response:
    answer = page("fault.html", words=_words(request, None), status=status, what=what)
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        answer.headers["Retry-After"] = "30"
    return answer


def _words(request: Request, of_mail: str | None) -> Words:
    return words_for(
        chosen=request.query_params.get("lang"),
        accepted=request.headers.get("accept-language", ""),
        of_mail=of_mail,
    )
