"""The endpoints that every kind of import has: begin one, list them, show one, cancel one."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.pagination import PageQuery, page_of
from mailqueue.api.http.requests.spool import spooled
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contract.background import DataImport, ImportKind
from mailqueue.contract.page import Page
from mailqueue.core.paging import key_of
from mailqueue.imports import requests
from mailqueue.imports.model import WantedImport
from mailqueue.projects.model import Scope

IMPORT_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ImportEndpoints:
    """The endpoints of one kind of import; `query` has its options, by the names of the import."""

    kind: ImportKind
    variable: str
    """Name of the path variable with the id of an import."""
    tag: str
    query: type[RequestModel]
    reading: Scope
    writing: Scope
    test_keys: ForTestKeys
    """Those of the endpoints that change something."""
    test_keys_reading: ForTestKeys

    @property
    def path(self) -> str:
        return f"/v1/{self.kind}/imports"

    async def begin(self, call: RequestContext) -> DataImport:
        """Begin an import, which workers carry out."""
        asked: Mapping[str, object] = call.query.model_dump(exclude_none=True)
        # Received completely first: a slow client must not hold a connection.
        async with spooled(call.request, max_bytes=IMPORT_BYTES) as file, call.connection() as conn:
            wanted = WantedImport(self.kind, file, options=asked, is_test=bool(call.is_test))
            return await requests.begin(conn, call.caller.project_id, wanted, by=call.by)

    async def index(self, call: RequestContext) -> Page[DataImport]:
        """List imports, newest first."""
        query: PageQuery = call.query
        (before,) = key_of(query.cursor, UUID)
        async with call.connection() as conn:
            found = await requests.page(
                conn, call.caller.project_id, self.kind, before=before, limit=query.limit + 1
            )
        return page_of(found, query.limit, key=lambda one: (one.id,))

    async def show(self, call: RequestContext) -> DataImport:
        """Return one import with its progress."""
        async with call.connection() as conn:
            found = call.id(self.variable)
            return await requests.find(conn, call.caller.project_id, self.kind, found)

    async def cancel(self, call: RequestContext) -> DataImport:
        """Cancel an import."""
        async with call.connection() as conn:
            found = call.id(self.variable)
            return await requests.cancel(conn, call.caller.project_id, self.kind, found, by=call.by)

    def endpoints(self) -> tuple[Endpoint, ...]:
        """Return the endpoints, for the table of them."""
        return (
            Endpoint(
                "POST",
                self.path,
                self.writing,
                f"Import a large file of {self.kind} in the background.",
                self.begin,
                query=self.query,
                response=DataImport,
                status=HTTPStatus.ACCEPTED,
                tag=self.tag,
                description=f"The body is read as that of `POST /v1/{self.kind}/import`. Workers "
                f"take its lines; `GET {self.path}/{{{self.variable}}}` shows the progress "
                "and the lines that are refused. At most 256 MiB, 30 with an Idempotency-Key. "
                f"409 if {requests.MAX_UNFINISHED} imports are not finished.",
                test_keys=self.test_keys,
            ),
            Endpoint(
                "GET",
                self.path,
                self.reading,
                f"List imports of {self.kind}, newest first.",
                self.index,
                query=PageQuery,
                response=Page[DataImport],
                tag=self.tag,
                test_keys=self.test_keys_reading,
            ),
            Endpoint(
                "GET",
                f"{self.path}/{{{self.variable}}}",
                self.reading,
                f"Show an import of {self.kind}, its progress and the lines that were refused.",
                self.show,
                response=DataImport,
                tag=self.tag,
                description="`lines_read` grows while the `state` is `running`. It is kept for "
                "thirty days after its end.",
                test_keys=self.test_keys_reading,
            ),
            Endpoint(
                "POST",
                f"{self.path}/{{{self.variable}}}/cancel",
                self.writing,
                f"Cancel an import of {self.kind}.",
                self.cancel,
                response=DataImport,
                tag=self.tag,
                description="No more lines are taken, and the file is deleted. What was taken "
                "stays. 409 if the import has ended.",
                test_keys=self.test_keys,
            ),
        )
