"""Endpoints of imports of contacts that workers carry out."""

from http import HTTPStatus
from uuid import UUID

from mailqueue.api.contacts.schema import BeginImportQuery
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.pagination import PageQuery, page_of
from mailqueue.api.http.requests.spool import spooled
from mailqueue.contract.background import DataImport, ImportKind
from mailqueue.contract.page import Page
from mailqueue.core.paging import key_of
from mailqueue.imports import requests
from mailqueue.imports.model import WantedImport
from mailqueue.tenants.model import Scope

PATH = "/v1/contacts/imports"
IMPORT_BYTES = 256 * 1024 * 1024
KIND = ImportKind.CONTACTS
_TAG = "Contacts"


async def begin(call: RequestContext) -> DataImport:
    """Begin an import, which workers carry out."""
    query: BeginImportQuery = call.query
    options = {} if query.list is None else {"list": query.list}
    # Received completely first: a slow client must not hold a connection.
    async with spooled(call.request, max_bytes=IMPORT_BYTES) as file, call.connection() as conn:
        wanted = WantedImport(KIND, file, options=options, is_test=bool(call.is_test))
        return await requests.begin(conn, call.caller.project_id, wanted, by=call.by)


async def index(call: RequestContext) -> Page[DataImport]:
    """List imports, newest first."""
    query: PageQuery = call.query
    (before,) = key_of(query.cursor, UUID)
    async with call.connection() as conn:
        found = await requests.page(
            conn, call.caller.project_id, KIND, before=before, limit=query.limit + 1
        )
    return page_of(found, query.limit, key=lambda one: (one.id,))


async def show(call: RequestContext) -> DataImport:
    """Return one import with its progress."""
    async with call.connection() as conn:
        return await requests.find(conn, call.caller.project_id, KIND, call.id("import_id"))


IMPORT_ENDPOINTS = (
    Endpoint(
        "POST",
        PATH,
        Scope.CONTACTS_WRITE,
        "Import a large file of contacts in the background.",
        begin,
        query=BeginImportQuery,
        response=DataImport,
        status=HTTPStatus.ACCEPTED,
        tag=_TAG,
        description="The body is read as that of `POST /v1/contacts/import`. Workers take its "
        "lines; `GET /v1/contacts/imports/{import_id}` shows the progress and the lines that are "
        "refused. At most 256 MiB, 30 with an Idempotency-Key. 409 if "
        f"{requests.MAX_UNFINISHED} imports are not finished.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        PATH,
        Scope.CONTACTS_READ,
        "List imports of contacts, newest first.",
        index,
        query=PageQuery,
        response=Page[DataImport],
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{PATH}/{{import_id}}",
        Scope.CONTACTS_READ,
        "Show an import of contacts, its progress and the lines that were refused.",
        show,
        response=DataImport,
        tag=_TAG,
        description="`lines_read` grows while the `state` is `running`. It is kept for thirty "
        "days after its end.",
        test_keys=ForTestKeys.OWN,
    ),
)
