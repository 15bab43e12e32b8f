"""Resend's API: received emails, which are the bounce mail that came by the project's URLs.

Follows resend.com/docs/api-reference/emails/list-received-emails and its Python client 2.51.
"""

import asyncio
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid5

from starlette.responses import Response

from mailqueue.api.compat.mailboxes import split_mailboxes
from mailqueue.api.compat.postmark.received import store as received_store
from mailqueue.api.compat.postmark.received.store import BounceMail
from mailqueue.api.compat.resend.pages import (
    DEFAULT_LIMIT,
    ListPage,
    list_answer,
    page_of,
    page_query,
)
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.origin import origin_of
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import NotFound
from mailqueue.inbound.bounces.submitted import RECIPIENT
from mailqueue.inbound.bounces.tree import DEFAULT_LIMITS
from mailqueue.mime.parse import ShownAttachment, ShownMessage, attached_file, parse_message
from mailqueue.projects.model import Scope

AT_ONCE = 20
"""Emails that are in memory at the same time; a list of 100 is read in parts."""


async def index(call: RequestContext) -> Response:
    """List received emails, newest first."""
    query = page_query(call, ListPage)
    wanted = (query.limit or DEFAULT_LIMIT) + 1
    after, before = query.after, query.before
    shown: list[dict[str, Any]] = []
    while len(shown) < wanted:
        limit = min(AT_ONCE, wanted - len(shown))
        async with call.connection() as conn:
            found = await received_store.list_mail_beside(
                conn, call.caller.project_id, after=after, before=before, limit=limit
            )
        shown += await asyncio.to_thread(_all_listed, found)
        if len(found) < limit:
            break
        after, before = (None, found[-1].id) if before is not None else (found[-1].id, None)
    page = shown[: wanted - 1]
    return list_answer(page[::-1] if query.before is not None else page, len(shown) == wanted)


async def show(call: RequestContext) -> Response:
    """Show a received email with its texts."""
    found = await _found(call)
    return json_answer(await asyncio.to_thread(_shown, found))


async def list_files(call: RequestContext) -> Response:
    """List the attachments of a received email."""
    query = page_query(call, ListPage)
    files = await _files(call, await _found(call))
    page, has_more = page_of(files, query, lambda one: UUID(one["id"]))
    return list_answer(page, has_more)


async def show_file(call: RequestContext) -> Response:
    """Show an attachment of a received email."""
    shown, _ = await _file(call, await _found(call))
    return json_answer({"object": "attachment", **shown})


async def download(call: RequestContext) -> Response:
    """Return the content of an attachment; requires the key."""
    found = await _found(call)
    shown, place = await _file(call, found)
    file = await asyncio.to_thread(attached_file, found.request().body, place)
    name = quote(shown["filename"] or "attachment")
    return Response(
        b"" if file is None else file[1],
        media_type="application/octet-stream",  # never shown by a browser, whatever its type
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        },
    )


async def _found(call: RequestContext) -> BounceMail:
    """Return the email of the path.

    Raises:
        NotFound: the project has received no such email.
    """
    received_id = call.id("received_id")
    async with call.connection() as conn:
        found = await received_store.find_mail(conn, call.caller.project_id, received_id)
    if found is None:
        raise NotFound("email", received_id)
    return found


async def _files(call: RequestContext, one: BounceMail) -> list[dict[str, Any]]:
    read = await asyncio.to_thread(parse_message, one.request().body, DEFAULT_LIMITS)
    origin = origin_of(call.request.scope, call.settings.tracking.public_url)
    base = f"{origin}/emails/receiving/{one.id}/attachments"
    return [
        {**each, "download_url": f"{base}/{each['id']}/content", "expires_at": None}
        for each in _listed_files(one.id, read.attachments)
    ]


async def _file(call: RequestContext, one: BounceMail) -> tuple[dict[str, Any], int]:
    wanted = call.id("attachment_id")
    for place, shown in enumerate(await _files(call, one)):
        if shown["id"] == str(wanted):
            return shown, place
    raise NotFound("attachment", wanted)


def _all_listed(found: Sequence[BounceMail]) -> list[dict[str, Any]]:
    return [_fields(one, parse_message(one.request().body, DEFAULT_LIMITS)) for one in found]


def _shown(one: BounceMail) -> dict[str, Any]:
    request = one.request()
    read = parse_message(request.body, DEFAULT_LIMITS)
    envelope = (request.query.get(RECIPIENT) or "").split()
    headers: dict[str, str] = {}
    for name, value in read.headers:
        headers.setdefault(name.lower(), value)
    return {
        "object": "email",
        **_fields(one, read),
        "html": read.html,
        "text": read.text,
        "headers": headers,
        "received_for": envelope or split_mailboxes(read.to),
    }


def _fields(one: BounceMail, read: ShownMessage) -> dict[str, Any]:
    return {
        "id": one.id,
        "from": read.sender,
        "to": split_mailboxes(read.to),
        "cc": split_mailboxes(read.header("Cc")),
        "bcc": split_mailboxes(read.header("Bcc")),
        "reply_to": split_mailboxes(read.header("Reply-To")),
        "subject": read.subject,
        "message_id": read.header("Message-ID"),
        "created_at": stamp(one.received_at),
        "attachments": _listed_files(one.id, read.attachments),
    }


def _listed_files(mail_id: UUID, files: Sequence[ShownAttachment]) -> list[dict[str, Any]]:
    return [
        {
            "id": str(uuid5(mail_id, f"attachment {place}")),
            "filename": each.filename or None,
            "content_type": each.content_type,
            "content_disposition": "attachment",
            "content_id": None,
            "size": each.size_bytes,
        }
        for place, each in enumerate(files)
    ]


def _reading(path: str, summary: str, handler: Any) -> Endpoint:
    return Endpoint("GET", path, Scope.EMAIL_READ, summary, handler, test_keys=ForTestKeys.REFUSED)


_PATH = "/emails/receiving"
_ONE = f"{_PATH}/{{received_id}}"
_FILES = f"{_ONE}/attachments"
_FILE = f"{_FILES}/{{attachment_id}}"
RECEIVED_ENDPOINTS = (
    _reading(_PATH, "List received bounce mail.", index),
    _reading(_ONE, "Show received bounce mail.", show),
    _reading(_FILES, "List the attachments of received bounce mail.", list_files),
    _reading(_FILE, "Show an attachment of received bounce mail.", show_file),
    _reading(f"{_FILE}/content", "Download an attachment of received bounce mail.", download),
)
