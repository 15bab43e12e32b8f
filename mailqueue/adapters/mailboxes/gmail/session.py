"""Requests to the API of Gmail for one inbox: its access token, one connection, its errors."""

import ssl
from typing import Any

from mailqueue.adapters.http.connection import HttpConnection, connect
from mailqueue.adapters.http.model import (
    HttpRequest,
    HttpResponse,
    NetworkPolicy,
    ResponseLimits,
    read_origin,
)
from mailqueue.adapters.mailboxes.gmail.consents import TIMEOUTS
from mailqueue.adapters.sending.oauth import Tokens
from mailqueue.adapters.sending.outcomes import cleaned, retry_after_of
from mailqueue.adapters.sending.redaction import redacted
from mailqueue.core.json.writing import write_json
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Fault, Rejected
from mailqueue.ports.mailbox import ScanFault
from mailqueue.smtp.client.trust import system_trust

MAX_BYTES = 512 * 1024
BODY_SECONDS = 15.0
_RATE_REASONS = frozenset(
    {"rateLimitExceeded", "userRateLimitExceeded", "concurrentLimitExceeded", "quotaExceeded"}
    | {"dailyLimitExceeded", "limitExceeded", "RATE_LIMIT_EXCEEDED", "RESOURCE_EXHAUSTED"}
)

# What the operator of this installation has to mend, and no owner of an inbox.
_CLIENT_ERRORS = ("invalid_client", "unauthorized_client", "deleted_client", "disabled_client")
_PROJECT_REASONS = frozenset({"accessNotConfigured", "SERVICE_DISABLED"})


class GmailStopped(Exception):
    """The scan cannot go on."""

    def __init__(self, fault: ScanFault) -> None:
        super().__init__(fault.reason)
        self.fault = fault


def odd(what: str) -> GmailStopped:
    """Return the error of an answer that is not as documented."""
    return GmailStopped(ScanFault(f"Gmail did not answer as expected: {what}", is_refusal=False))


class GmailSession:
    """Asks for one thing after the other; the connection is opened with the first."""

    def __init__(
        self,
        api: str,
        tokens: Tokens,
        policy: NetworkPolicy,
        *,
        tls_context: ssl.SSLContext | None = None,
    ) -> None:
        self._site = read_origin(api)
        self._tokens = tokens
        self._policy = policy
        self._tls_context = tls_context
        self._wire: HttpConnection | None = None

    async def get(self, path: str) -> HttpResponse:
        """Return an answer of 200 or 404; its body is cut at MAX_BYTES.

        Raises:
            GmailStopped: any other answer, or none.
        """
        return await self._answered("GET", path)

    async def post(self, path: str, document: dict[str, Any]) -> HttpResponse:
        """Return the answer to a JSON document, as `get` does."""
        return await self._answered("POST", path, write_json(document))

    async def _answered(self, method: str, path: str, body: bytes = b"") -> HttpResponse:
        answer, token = await self._asked(method, path, body)
        if answer.status == 401:  # the token may have ended early: once more with another
            self._tokens.drop()
            answer, token = await self._asked(method, path, body)
        if answer.status in (200, 404):
            return answer
        raise GmailStopped(_fault_of(answer, token))

    def close(self) -> None:
        """Close the connection."""
        if self._wire is not None:
            self._wire.close()

    async def _asked(self, method: str, path: str, body: bytes) -> tuple[HttpResponse, Secret]:
        token = await self._tokens.get()
        if isinstance(token, Rejected):
            is_of_client = any(word in token.detail for word in _CLIENT_ERRORS)
            is_refusal = token.kind is Fault.ACCOUNT and not is_of_client
            raise GmailStopped(ScanFault(token.detail, is_refusal, wait=token.retry_after))
        wire = await self._opened()
        headers = (
            ("Authorization", f"Bearer {token.reveal()}"),
            ("Accept", "application/json"),
            *((("Content-Type", "application/json"),) if body else ()),
        )
        call = HttpRequest(method, path, headers, body)
        answer = await wire.ask(call, may_finish=lambda: True)
        if isinstance(answer, Rejected):
            raise GmailStopped(ScanFault(f"Gmail: {answer.detail}", is_refusal=False))
        return answer, token

    async def _opened(self) -> HttpConnection:
        if self._wire is not None and self._wire.is_usable:
            return self._wire
        self.close()
        if self._site.scheme == "https" and self._tls_context is None:
            self._tls_context = await system_trust()
        wire = await connect(
            self._site,
            self._policy,
            timeouts=TIMEOUTS,
            context=self._tls_context if self._site.scheme == "https" else None,
            reading=ResponseLimits(MAX_BYTES, BODY_SECONDS),
        )
        if isinstance(wire, Rejected):
            raise GmailStopped(ScanFault(f"Gmail: {wire.detail}", is_refusal=False))
        self._wire = wire
        return wire


def _fault_of(answer: HttpResponse, token: Secret) -> ScanFault:
    reasons, message = _error_of(answer)
    word = next((one for one in reasons if one in _RATE_REASONS), reasons[0] if reasons else "")
    text = cleaned(f"Gmail: {word or f'HTTP {answer.status}'} {message}")
    reason = redacted(text, (token,))
    if answer.status == 429 or (answer.status == 403 and word in _RATE_REASONS):
        return ScanFault(reason, is_refusal=False, wait=retry_after_of(answer))
    is_of_client = not _PROJECT_REASONS.isdisjoint(reasons)
    return ScanFault(reason, is_refusal=answer.status in (400, 401, 403) and not is_of_client)


def _error_of(answer: HttpResponse) -> tuple[list[str], str]:
    """Return the words that name an error, and its message."""
    document = answer.document()
    error: Any = document.get("error") if isinstance(document, dict) else None
    if not isinstance(error, dict):
        return [], ""
    words: list[str] = []
    for name in ("errors", "details"):
        listed = error.get(name)
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, dict) and isinstance(one.get("reason"), str):
                words.append(one["reason"])
    status, message = error.get("status"), error.get("message")
    words += [status] if isinstance(status, str) else []
    return words, message if isinstance(message, str) else ""
