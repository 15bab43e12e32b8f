"""Prepare a request: resolve the sender account's name, store large files."""

from typing import TypeVar

from pydantic import BaseModel

from mailqueue.api.emails import store as emails_store
from mailqueue.api.http.context import RequestContext
from mailqueue.api.sending.keys import OneMail
from mailqueue.api.sending.schema import AttachedFile
from mailqueue.api.sending.service import renamed
from mailqueue.core.errors import InvalidField
from mailqueue.mail.accept.attachments import store_large

AnyMail = TypeVar("AnyMail", bound=BaseModel)


async def routed(call: RequestContext, request: AnyMail) -> AnyMail:
    """Return the request with its sender account by name."""
    given: str | None = getattr(request, "smtp_config_id", None)
    if given is None:
        return request
    async with call.connection() as conn:
        name = await emails_store.find_sender_name(conn, given, project_id=call.caller.project_id)
    # An unknown account is refused by SQL.
    return request.model_copy(update={"smtp_config_id": name or given})


async def store_files(call: RequestContext, request: OneMail) -> OneMail:
    """Return the request with its large files stored.

    Raises:
        InvalidField: the project does not allow one of them.
    """
    if not request.attachments or not call.services.storage.places:
        return request
    given = [one.model_dump(exclude_none=True) for one in request.attachments]
    try:
        kept = await store_large(
            call.runtime.borrow, call.services.storage, given, project_id=call.caller.project_id
        )
    except InvalidField as exc:
        raise renamed(exc) from None
    files = [AttachedFile.model_construct(**one) for one in kept]
    return request.model_copy(update={"attachments": files})
