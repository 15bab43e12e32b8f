"""The definition of an endpoint: one row of the endpoint table."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

from mailqueue.api.http.context import Call
from mailqueue.tenants.model import Scope

Handler = Callable[[Call], Awaitable[object]]
"""Returns a value that becomes JSON, or a starlette Response that is sent unchanged."""


class Once(StrEnum):
    """The effect of the header Idempotency-Key."""

    NEVER = "never"  # nothing: asking twice is asking once anyway
    TOGETHER = "together"  # key, effect and answer in one transaction around the whole handler
    APART = "apart"  # the handler talks to others or runs long: key first, answer afterwards
    ITSELF = "itself"  # the handler sees to it


class ForTestKeys(StrEnum):
    """The effect of an endpoint for a test key, which can only read and change test data."""

    OWN = "own"  # acts on what has a mode: on test things for a test key
    READ = "read"  # shows what has no mode; the database refuses it every change
    REFUSED = "refused"  # changes what has no mode, or gives out what lets others do so


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one path.

    `path` has its variables in braces; `{pid}` is checked to be the caller's own project. `scope`
    None needs a key, and no scope. `superadmin` needs an administrator's token in place of a key.
    `request` is None for a handler that reads the body itself, and where there is none;
    `response` is a model, a dataclass or `list[…]`, None for an answer without JSON.
    `once` None: TOGETHER for POST, else NEVER. `hidden` names fields of an answer that a replay
    shows as null: secrets that are shown once. `test_keys` None refuses test keys:
    every endpoint of keys says what it does for them.
    """

    method: str
    path: str
    scope: Scope | None
    summary: str
    handler: Handler
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
