"""Resend's API: attachments of accepted mail."""

from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from mailqueue.api.compat.content import content_of
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.origin import origin_of
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import NotFound, Unavailable
from mailqueue.mail.message.preview import fetched, find_email
from mailqueue.projects.model import Scope

_PATH = "/emails/{email_id}/attachments"


async def index(call: RequestContext) -> Response:
    """Return the files of a mail; there are at most 50, so one page has them all."""
    data = [shown for shown, _ in await _all(call)]
    return json_answer({"object": "list", "has_more": False, "data": data})


async def show(call: RequestContext) -> Response:
    """Show one file of a mail."""
    shown, _ = await _one(call)
    return json_answer({"object": "attachment", **shown})


async def download(call: RequestContext) -> Response:
    """Return the content of one file; requires the key."""
    shown, place = await _one(call)
    project_id, email_id = call.caller.project_id, call.id("email_id")
    letter = await find_email(call.connection, project_id=project_id, email_id=email_id)
    storage = call.services.storage
    loaded = await fetched(call.connection, storage, letter.email, project_id=project_id)
    if loaded.fault is not None:
        raise Unavailable(loaded.fault.reason)
    name = quote(shown["filename"])
    return Response(
        loaded.files[place].octets,
        media_type="application/octet-stream",  # never shown by a browser, whatever its type
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        },
    )


async def _all(call: RequestContext) -> list[tuple[dict[str, Any], int]]:
    """Return the files of a mail, each with its position."""
    email_id = call.id("email_id")
    said = await content_of(call, email_id)
    origin = origin_of(call.request.scope, call.settings.tracking.public_url)
    base = f"{origin}/emails/{email_id}/attachments"
    return [(_shown(one, base), place) for place, one in enumerate(said.files)]


async def _one(call: RequestContext) -> tuple[dict[str, Any], int]:
    wanted = call.id("attachment_id")
    for shown, place in await _all(call):
        if shown["id"] == str(wanted):
            return shown, place
    raise NotFound("attachment", wanted)


def _shown(one: dict[str, Any], base: str) -> dict[str, Any]:
    return {
        "id": one["id"],
        "filename": one["name"],
        "content_type": one["type"],
        "content_disposition": "inline" if one.get("cid") else "attachment",
        "content_id": one.get("cid"),
        "size": one["bytes"],
        "download_url": f"{base}/{one['id']}/content",
        "expires_at": None,
    }


FILE_ENDPOINTS = (
    Endpoint(
        "GET",
        _PATH,
        Scope.EMAIL_READ,
        "List the attachments of an email.",
        index,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{_PATH}/{{attachment_id}}",
        Scope.EMAIL_READ,
        "Show an attachment.",
        show,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{_PATH}/{{attachment_id}}/content",
        Scope.EMAIL_READ,
        "Download an attachment.",
        download,
        test_keys=ForTestKeys.OWN,
    ),
)
