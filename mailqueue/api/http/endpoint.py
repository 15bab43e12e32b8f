"""The definition of an endpoint: one row of the endpoint table."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

from mailqueue.api.http.context import RequestContext
from mailqueue.projects.model import Scope

EndpointHandler = Callable[[RequestContext], Awaitable[object]]
"""Returns a value that becomes JSON, or a starlette Response that is sent unchanged."""


class Once(StrEnum):
    """The effect of the header Idempotency-Key."""

    NEVER = "never"  # no effect: the request is idempotent by itself
    TOGETHER = "together"  # key, effect and answer in one transaction around the whole handler
    APART = "apart"  # the handler calls other servers or runs long: key first, response afterwards
    ITSELF = "itself"  # the handler implements it


class ForTestKeys(StrEnum):
    """The effect of an endpoint for a test key, which can only read and change test data."""

    OWN = "own"  # test keys act on test data only
    READ = "read"  # test keys may read what has no mode; the database refuses changes
    REFUSED = "refused"  # the endpoint changes what has no mode, or issues credentials


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one path.

    `path` has its variables in braces; `{pid}` must be the caller's own project. `scope` None
    requires a key, but no scope. `superadmin` requires an administrator's token in place of a key.
    `request` is None for a handler that parses the body itself, and where there is no body;
    `response` is a model, a dataclass or `list[…]`, None for a response without JSON. `once` None:
    TOGETHER for POST, else NEVER. `hidden` names fields of a response that a replay shows as null:
    secrets that are shown once. `test_keys` None refuses test keys: every endpoint with a scope
    sets it.
    """

    method: str
    path: str
    scope: Scope | None
    summary: str
    handler: EndpointHandler
    request: type[BaseModel] | None = None
    query: type[BaseModel] | None = None
    response: Any = None
    status: HTTPStatus = HTTPStatus.OK
    tag: str = "Projects"
    superadmin: bool = False
    once: Once | None = None
    hidden: tuple[str, ...] = ()
    test_keys: ForTestKeys | None = None
    example: dict[str, Any] | None = None
    description: str = ""

    @property
    def once_is(self) -> Once:
        """Return the effect of Idempotency-Key on this endpoint."""
        if self.once is not None:
            return self.once
        return Once.TOGETHER if self.method == "POST" else Once.NEVER
