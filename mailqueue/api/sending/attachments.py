"""The endpoint that stores files for later emails."""

import hashlib
from http import HTTPStatus

from pydantic import Field
from starlette.exceptions import HTTPException

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.requests.spool import spooled
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.api.sending.service import renamed
from mailqueue.contract.sending import Uploaded
from mailqueue.core.errors import InvalidField
from mailqueue.mail.accept.attachments import NewFile, keep
from mailqueue.projects.model import Scope

MAX_BYTES = 26_214_400
"""Largest file of any project, in bytes; the project's own limit is checked afterwards."""


class UploadQuery(RequestModel):
    """Name of an upload."""

    filename: str = Field(min_length=1, max_length=255)
    """Name that recipients see, such as `bill.pdf`."""


async def upload(call: RequestContext) -> Uploaded:
    """Store a file."""
    query: UploadQuery = call.query
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not kind:
        why = "Content-Type must be the type of the file, such as application/pdf"
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, why)
    async with spooled(call.request, max_bytes=MAX_BYTES) as file:
        octets = file.read()
    try:
        kept = await keep(
            call.connection,
            call.services.storage,
            project_id=call.caller.project_id,
            file=NewFile(query.filename, kind, octets),
        )
    except InvalidField as exc:
        raise renamed(exc) from None
    return Uploaded(
        id=kept.id,
        filename=query.filename,
        content_type=kind,
        bytes=len(octets),
        sha256=hashlib.sha256(octets).hexdigest(),
    )


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/attachments",
        Scope.EMAIL_SEND,
        "Upload a file, to be sent by its id.",
        upload,
        query=UploadQuery,
        response=Uploaded,
        status=HTTPStatus.CREATED,
        tag="Sending",
        once=Once.NEVER,
        description="The body is the file itself, at most 25 MiB, with its type as Content-Type. "
        "The same file with the same name has the same id. It is stored while emails "
        "use it, then for the project's retention of attachments.",
        test_keys=ForTestKeys.OWN,
    ),
)
