"""The request context of a handler: the caller, the request, and a tenant's connection."""

import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar
from uuid import UUID

from starlette.requests import Request

from mailqueue.api.http.dependencies import Services
from mailqueue.api.http.requests.body import HEAVY_VALUES, headers_by_name
from mailqueue.api.http.requests.large_bodies import LARGE_BYTES, in_turn
from mailqueue.api.http.responses import IS_NAMED, REQUEST_ID
from mailqueue.api.http.runtime import Runtime
from mailqueue.core.errors import NotFound
from mailqueue.core.trace_context import only_one
from mailqueue.db.fetch import Conn
from mailqueue.projects.model import Admin, Caller
from mailqueue.settings.environment import Settings

LONGEST_TEST_KEY = 250
"""Maximum length in characters of a test key's idempotency key that is stored unhashed."""
T = TypeVar("T")


class RequestContext:
    """One request, after authentication and validation.

    `body` and `query` are the endpoint's models, `path` its variables as text, `size` the bytes of
    the body and `values` its number of JSON values, where a handler parses it. `caller` is set for
    keys only, `admin` for administrators only.
    """

    __slots__ = (
        "_admin",
        "_after_commit",
        "_caller",
        "_conn",
        "_has_share",
        "body",
        "is_read_only",
        "path",
        "query",
        "request",
        "runtime",
        "size",
        "values",
    )

    def __init__(
        self,
        runtime: Runtime,
        request: Request,
        path: Mapping[str, str],
        *,
        who: Caller | Admin,
        is_read_only: bool = False,
    ) -> None:
        self.runtime = runtime
        self.request = request
        self.path = path
        self._caller = who if isinstance(who, Caller) else None
        self._admin = who if isinstance(who, Admin) else None
        self.body: Any = None
        self.query: Any = None
        self.size = self.values = 0
        self.is_read_only = is_read_only
        self._conn: Conn | None = None
        self._after_commit: list[Callable[[], None]] = []
        self._has_share = False

    @property
    def caller(self) -> Caller:
        """Return the caller whose key was sent."""
        assert self._caller is not None, "an endpoint for administrators has no caller"
        return self._caller

    @property
    def admin(self) -> Admin:
        """Return the administrator whose token was sent."""
        assert self._admin is not None, "an endpoint for keys has no administrator"
        return self._admin

    @property
    def by(self) -> str:
        """Return the name of the caller for the audit log."""
        if self._admin is not None:
            return f"{self._admin.name} ({self._admin.means})"
        return f"key {self.caller.name}"

    @property
    def tenant(self) -> UUID | None:
        """Return the id of the visible project; None for administrators, who see all."""
        return self._caller.project_id if self._caller is not None else None

    @property
    def is_test(self) -> bool | None:
        """Return the mode of the caller's key; None for administrators, who see both."""
        return self._caller.is_test if self._caller is not None else None

    @property
    def settings(self) -> Settings:
        return self.runtime.settings

    @property
    def services(self) -> Services:
        return self.runtime.services

    def name_after(self, made: UUID) -> None:
        """Name the request after the email or batch it made, unless the caller named it.

        A search for the request id finds the email then, though it is stored nowhere else.
        """
        if IS_NAMED not in self.request.scope:
            self.request.scope[REQUEST_ID] = made.hex

    async def in_turn(self, work: Callable[[], T]) -> T:
        """Run work on the request's data: for a large request in a thread, one at a time."""
        is_heavy = self.size > LARGE_BYTES or self.values > HEAVY_VALUES
        return await in_turn(self.request, work, is_large=is_heavy)

    @property
    def idempotency_key(self) -> str | None:
        """Return the header Idempotency-Key."""
        given = headers_by_name(self.request).get(b"idempotency-key")
        return None if given is None else given.decode("latin-1")

    @property
    def traceparent(self) -> str | None:
        """Return the header traceparent; None if it is missing, invalid or stands twice."""
        if b"traceparent" not in headers_by_name(self.request):
            return None
        return only_one(self.request.headers.getlist("traceparent"))

    def kept_key(self, key: str) -> str:
        """Return an idempotency key as stored: those of test keys are separate from live keys."""
        if not self.is_test:
            return key
        # Keys have no spaces. A long one is stored as its hash, with another prefix.
        if len(key) <= LONGEST_TEST_KEY:
            return f"test {key}"
        return f"test sha256 {hashlib.sha256(key.encode()).hexdigest()}"

    def id(self, name: str) -> UUID:
        """Return a path variable as an id, such as `email_id` for an email.

        Raises:
            NotFound: the value is not an id.
        """
        given = self.path[name]
        try:
            return UUID(given)
        except ValueError:
            raise NotFound(name.removesuffix("_id").replace("_", " "), given[:100]) from None

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Conn]:
        """Yield a connection in a transaction with the role mailqueue_api, for the caller.

        It commits when the block ends. Row-level security shows the caller's project only, all
        projects for administrators, and test data only to a test key. Inside the block, do not
        hash, render or call other servers. If the request's idempotency key is stored with
        Once.TOGETHER, this is its only transaction.
        """
        if self._conn is not None:
            async with self._conn.transaction():  # a savepoint, rolled back alone
                yield self._conn
            return
        async with self._transaction() as conn:
            yield conn

    def reports(self) -> AbstractAsyncContextManager[Conn]:
        """Return a context as `connection` is, which reads from the replica if one answers.

        What it reads may be seconds old; it may write nothing.
        """
        return self._transaction(is_report=True)

    @asynccontextmanager
    async def _transaction(self, *, is_report: bool = False) -> AsyncIterator[Conn]:
        async with (
            self._share(),
            self.runtime.transaction(
                self.tenant,
                by=self.by,
                key_id=self._caller.id if self._caller is not None else None,
                is_test=self.is_test,
                is_read_only=self.is_read_only or is_report,
                is_report=is_report,
            ) as conn,
        ):
            yield conn

    @asynccontextmanager
    async def _share(self) -> AsyncIterator[None]:
        """Have a connection of the project's share, one for all transactions of the request."""
        if self._caller is None or self._has_share:
            yield
            return
        async with self.runtime.in_flight.connection(self._caller.project_id):
            self._has_share = True
            try:
                yield
            finally:
                self._has_share = False

    def once_committed(self, work: Callable[[], None]) -> None:
        """Run work once what the request has stored so far is committed; never if it is not.

        Call it after a block of `connection`, not within.
        """
        if self._conn is None:
            work()
        else:
            self._after_commit.append(work)

    @asynccontextmanager
    async def in_one_transaction(self) -> AsyncIterator[Conn]:
        """Use one connection for the whole call; for the code around handlers."""
        outer = self._conn
        async with self.connection() as conn:
            self._conn = conn
            try:
                yield conn
            except BaseException:
                self._after_commit.clear()
                raise
            finally:
                self._conn = outer
        if outer is None:
            works, self._after_commit = self._after_commit, []
            for work in works:
                work()
