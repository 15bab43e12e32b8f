"""Serves the pages behind links in mail: opens the token, finds the recipient, calls the page."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from mailqueue.api.http.runtime import Runtime
from mailqueue.api.public.rendering import Design, page
from mailqueue.api.public.wording import PageTexts, words_for
from mailqueue.core.errors import ConfigError, Locked, SealBroken, Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.suppression.subscriptions import choices
from mailqueue.suppression.subscriptions.model import ChoiceOrigin, ChoiceSource, LinkRecipient
from mailqueue.telemetry.log import get_logger
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.tokens import InvalidToken, Seals, Token, TokenKind
from mailqueue.tracking.visitors import network_of
from mailqueue.web.forms import FormBounds

FORM_BOUNDS = FormBounds(max_fields=500, needs_type=False)
"""A field for each category and for the end of its pause; some mail programs send no type."""
_MAX_AGENT_CHARACTERS = 500
_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Visit:
    """A request whose token was opened, and the recipient of the mail the link was in."""

    request: Request
    runtime: Runtime
    seals: Seals
    reader: LinkRecipient
    token: Token
    words: PageTexts

    def origin(self, source: ChoiceSource) -> ChoiceOrigin:
        """Return what is stored about a choice: its source, the User-Agent and the network.

        Of a visitor who asks not to be tracked (DNT, Sec-GPC) only the source is stored.
        """
        headers, client = self.request.headers, self.request.client
        if headers.get("dnt") == "1" or headers.get("sec-gpc") == "1":
            return ChoiceOrigin(source, None, None)
        agent = "".join(filter(str.isprintable, headers.get("user-agent", "")))
        network = None if client is None else network_of(client.host)
        return ChoiceOrigin(source, agent[:_MAX_AGENT_CHARACTERS] or None, network)

    def connection(self) -> AbstractAsyncContextManager[Conn]:
        """Return a connection in a transaction that acts for the project of the mail."""
        return self.runtime.transaction(self.reader.project_id, by="recipient")

    def page(
        self, template: str, *, status: HTTPStatus = HTTPStatus.OK, **values: object
    ) -> Response:
        """Return a page in the project's design, which names the project and the address."""
        return page(
            template,
            words=self.words,
            design=Design(self.reader.brand_color, self.reader.logo),
            status=status,
            project=self.reader.project,
            address=self.shown_address,
            **values,
        )

    @property
    def shown_address(self) -> str:
        """Return the address with most of its local part masked."""
        local, _, domain = self.reader.address.rpartition("@")
        return f"{local[:2] if len(local) > 3 else local[:1]}•••@{domain}"


VisitHandler = Callable[[Visit], Awaitable[Response]]


class RecipientPage:
    """The endpoint of one page; a token that does not open is answered with a page too."""

    def __init__(
        self, runtime: Runtime, keyring: Keyring, kind: TokenKind, handler: VisitHandler
    ) -> None:
        self._runtime = runtime
        self._keyring = keyring
        self._kind = kind
        self._handler = handler

    async def respond(self, request: Request) -> Response:
        """Return the page, or a page that names the error."""
        text: str = request.path_params["token"]
        try:
            async with self._runtime.borrow() as conn:
                seals = await self._keyring.opener(conn, text)
                token = seals.open(text, self._kind)
                reader = await choices.recipient_of_link(
                    conn, token.email_id, recipient=token.recipient
                )
            if reader is None or reader.project_id != seals.project_id:
                return _error_page(request, "missing", HTTPStatus.NOT_FOUND)
            words = words_for(
                chosen=request.query_params.get("lang"),
                accepted=request.headers.get("accept-language", ""),
                of_mail=reader.language,
            )
            if reader.page_texts:
                words = words.of_project(reader.page_texts)
            visit = Visit(request, self._runtime, seals, reader, token, words)
            return await self._handler(visit)
        except InvalidToken:
            return _error_page(request, "missing", HTTPStatus.NOT_FOUND)
        except HTTPException as exc:
            return _error_page(request, "away", HTTPStatus(exc.status_code))
        except (Unavailable, ConfigError, Locked, SealBroken) as exc:
            _log.warning("page.failed", fault=type(exc).__name__)
            return _error_page(request, "away", HTTPStatus.SERVICE_UNAVAILABLE)


def _error_page(request: Request, what: str, status: HTTPStatus) -> Response:
    words = words_for(
        chosen=request.query_params.get("lang"),
        accepted=request.headers.get("accept-language", ""),
        of_mail=None,
    )
    answer = page("fault.html", words=words, status=status, what=what)
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        answer.headers["Retry-After"] = "30"
    return answer
