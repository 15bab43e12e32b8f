"""Endpoints that export and erase a person's data."""

import asyncio

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contract.privacy import ErasureState, ExportedPerson
from mailqueue.privacy import erasing, persons
from mailqueue.privacy.exporting import export_person, note_export
from mailqueue.privacy.model import ProjectName
from mailqueue.privacy.values import state_of
from mailqueue.projects.model import Scope

SECONDS = 10.0
"""How long a request works on an erasure, in seconds; the rest is done in the background."""
_TAG = "Suppressions"
PATH = "/v1/suppressions/{email_hash}"


class EraseQuery(RequestModel):
    """Options of an erasure."""

    suppress: bool = False
    """Also suppress the address forever; existing suppressions stay in force either way."""


async def erase(call: RequestContext) -> ErasureState:
    """Erase a person."""
    query: EraseQuery = call.query
    project = _project(call)
    async with call.connection() as conn:
        spellings = await persons.find(conn, project, call.path["email_hash"])
    erasure_id = await erasing.begin(
        call.connection, project.id, spellings, suppress=query.suppress, by=call.by
    )
    loop = asyncio.get_running_loop()
    until = loop.time() + SECONDS
    await erasing.go_on(
        call.connection, erasure_id, by=call.by, may_go_on=lambda: loop.time() < until
    )
    async with call.connection() as conn:
        return state_of(await erasing.get(conn, erasure_id))


async def show(call: RequestContext) -> ErasureState:
    """Return the progress of an erasure."""
    async with call.connection() as conn:
        return state_of(await persons.last_erasure(conn, _project(call), call.path["email_hash"]))


async def export(call: RequestContext) -> ExportedPerson:
    """Return everything stored about a person."""
    project = _project(call)
    async with call.connection() as conn:
        spellings = await persons.find(conn, project, call.path["email_hash"])
        await note_export(conn, project.id, spellings)
    found = await export_person(call.connection, project, spellings)
    return ExportedPerson(spellings[0], found["mails"], found["records"], found["archives"])


def _project(call: RequestContext) -> ProjectName:
    return ProjectName(call.caller.project_id, call.caller.project)


ENDPOINTS = (
    Endpoint(
        "DELETE",
        PATH + "/erase",
        Scope.SUPPRESSION_MANAGE,
        "Erase all data stored about a person.",
        erase,
        query=EraseQuery,
        response=ErasureState,
        once=Once.NEVER,
        tag=_TAG,
        description="By the hash of the address, or the address itself. Unfinished emails to it "
        "are cancelled; suppressions are kept by the hash. Archive files are "
        "rewritten in the background: until then the state is `running`.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        PATH + "/erase",
        Scope.SUPPRESSION_MANAGE,
        "Show the progress of an erasure.",
        show,
        response=ErasureState,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        PATH + "/export",
        Scope.SUPPRESSION_MANAGE,
        "Export all data stored about a person.",
        export,
        response=ExportedPerson,
        tag=_TAG,
        description="By the hash of the address, or the address itself. Archive files are read "
        "by `mailqueue export-person` only; `archives` tells whether there are any.",
        test_keys=ForTestKeys.REFUSED,
    ),
)
