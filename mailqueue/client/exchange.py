"""Convert requests and responses between this package and httpx2, for both clients."""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2

from mailqueue.client.answers import Sent
from mailqueue.client.errors import LONGEST_TEXT, BadAnswer
from mailqueue.client.reading import read
from mailqueue.client.request import ApiRequest
from mailqueue.client.retrying import ApiResponse, NoResponse, Retries, Talk, attempts_of
from mailqueue.core.secret import Secret
from mailqueue.core.trace_context import current_traceparent

T = TypeVar("T")
_UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)


@dataclass(frozen=True, slots=True)
class ApiAccess:
    """Where the API is, and how it is asked."""

    url: str
    key: Secret
    project: str
    timeout: float
    retries: Retries
    chance: Callable[[], float] = field(default=random.random, repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the url of the API is needed, such as http://127.0.0.1:8025")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("the url of the API may have a host, a port and a path only")
        if not self.key or not self.key.reveal().isascii():
            raise ValueError("an API key is needed, such as mq_live_…")

    def talk(self, ask: ApiRequest[Any]) -> Talk:
        """Return the sequence of attempts for one request."""
        return attempts_of(self.retries, is_repeatable=ask.is_repeatable, chance=self.chance)

    def request(self, ask: ApiRequest[Any]) -> dict[str, Any]:
        """Return the arguments of a client's `request`."""
        headers = {"Authorization": f"Bearer {self.key.reveal()}", "Accept": "application/json"}
        if (traceparent := current_traceparent()) is not None:
            headers["traceparent"] = traceparent
        content = ask.octets
        if ask.key is not None and not _is_in(ask):
            headers["Idempotency-Key"] = ask.key
        if ask.body is not None:
            content = json.dumps(ask.body).encode()
        if content is not None:
            headers["Content-Type"] = ask.content_type
        return {
            "method": ask.method,
            "url": self.url.rstrip("/") + ask.path,
            "params": dict(ask.query),
            "headers": headers,
            "content": content,
        }


def _is_in(ask: ApiRequest[Any]) -> bool:
    """Return whether the idempotency key is in the body."""
    return isinstance(ask.body, Mapping) and "idempotency_key" in ask.body


def response_of(answer: httpx2.Response) -> ApiResponse:
    """Return the status, headers and body of a response."""
    headers = {name.lower(): text for name, text in answer.headers.items()}
    return ApiResponse(int(answer.status_code), headers, answer.content)


def no_response_of(exc: httpx2.RequestError) -> NoResponse:
    """Return the description of a failed request, and whether it was sent at all."""
    return NoResponse(f"{type(exc).__name__}: {exc}".rstrip(": "), isinstance(exc, _UNSENT))


def parsed(ask: ApiRequest[T], answer: ApiResponse) -> T:
    """Parse a response as the type that the request expects.

    Raises:
        BadAnswer: the response has another form.
    """
    if ask.kind is None:
        return answer.body  # type: ignore[return-value]
    try:
        document = json.loads(answer.body)
        if ask.kind is Sent and "idempotent-replayed" in answer.headers:
            document = {**document, "is_repeated": True}
        elif isinstance(document, dict) and getattr(ask.kind, "__origin__", None) is tuple:
            document = document["data"]
        found: T = read(ask.kind, document)
    except (ValueError, TypeError, KeyError, AttributeError) as exc:
        shown = answer.body[:LONGEST_TEXT].decode("utf-8", "replace")
        raise BadAnswer(answer.status, shown) from exc
    return found
