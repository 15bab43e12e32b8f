"""What an email says, for roles that may see it: HTML in a sandbox, text, headers, files, source.

Each look is recorded in the audit log before anything is shown.
"""

import asyncio
import re
from enum import StrEnum
from urllib.parse import quote

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.emails.pages import EMAIL, email_id_of
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.mail.message.preview import build_preview, find_email
from mailqueue.mime.parse import ShownMessage, attached_file, parse_message
from mailqueue.operations import acting
from mailqueue.web.security_headers import DOWNLOAD_HEADERS, framed

SOURCE_BYTES = 1024 * 1024
"""Bytes of the source that are shown; a download has all of it."""


class MessageView(StrEnum):
    """A view of a message."""

    HTML = "html"
    TEXT = "text"
    HEADERS = "headers"
    FILES = "files"
    SOURCE = "source"


async def show_message(context: PageContext) -> Response:
    """Show a message in one of its views."""
    raw = await _built(context)
    content = await asyncio.to_thread(parse_message, raw)
    view = _chosen(context.query("view"), content)
    if view is not MessageView.HTML:  # else the frame is what shows it
        await _note(context, view)
    return context.page(
        "emails/message.html",
        email_id=email_id_of(context),
        content=content,
        view=view,
        views=list(MessageView),
        source=raw[:SOURCE_BYTES].decode("utf-8", "replace") if view is MessageView.SOURCE else "",
        size=len(raw),
    )


async def show_html(context: PageContext) -> Response:
    """Return the HTML of a message for its frame, where it can run and fetch nothing."""
    raw = await _built(context)
    content = await asyncio.to_thread(parse_message, raw)
    await _note(context, MessageView.HTML)
    return framed(content.html or "")


async def download(context: PageContext) -> Response:
    """Return the message as a file."""
    raw = await _built(context)
    await _note(context, MessageView.SOURCE)
    headers = {
        "Content-Disposition": f'attachment; filename="{email_id_of(context)}.eml"',
        **DOWNLOAD_HEADERS,
    }
    return Response(raw, media_type="message/rfc822", headers=headers)


async def download_file(context: PageContext) -> Response:
    """Return one file of the message, which no browser shows."""
    given: str = context.request.path_params["number"]
    number = int(given) if given.isascii() and given.isdigit() and len(given) < 5 else -1
    found = await asyncio.to_thread(attached_file, await _built(context), number)
    if found is None:
        raise NotFound("file", given.replace("\0", "?")[:100])
    file, content = found
    await _note(context, f"{MessageView.FILES}/{number}")
    headers = {
        "Content-Disposition": attachment_disposition(file.filename or f"file-{number}"),
        **DOWNLOAD_HEADERS,
    }
    return Response(content, media_type="application/octet-stream", headers=headers)


def attachment_disposition(filename: str) -> str:
    """Return the header by which a browser saves a file of an untrusted name. Pure.

    A path, a leading dot, control characters and those that reverse the text are not in the name.
    """
    kept = "".join(char if char.isprintable() else "_" for char in filename)
    name = re.sub(r'[/\\:*?"<>|;%]', "_", kept).strip(" .")[:150] or "file"
    ascii_name = name.encode("ascii", "replace").decode().replace("?", "_")
    return f"attachment; filename=\"{ascii_name}\"; filename*=UTF-8''{quote(name, safe='')}"


async def _built(context: PageContext) -> bytes:
    """Return the message as a server receives it, without signatures.

    Raises:
        Conflict: its content was deleted, or it cannot be built.
    """
    project_id = context.seen.id
    shown = await find_email(
        context.connection, project_id=project_id, email_id=email_id_of(context)
    )
    try:
        built = await build_preview(context.connection, context.console.sources, shown)
    except ValueError as exc:
        raise Conflict(f"the message of this email cannot be built: {exc}") from exc
    return built.message


async def _note(context: PageContext, part: str) -> None:
    async with context.connection() as conn:
        await acting.note_view(conn, context.seen.id, email_id=email_id_of(context), part=part)


def _chosen(name: str, content: ShownMessage) -> MessageView:
    """Return the view that was asked for, else the first with content."""
    if name in set(MessageView):
        return MessageView(name)
    return MessageView.TEXT if content.html is None else MessageView.HTML


PAGES = (
    ConsolePage("GET", f"{EMAIL}/message", Right.READ_MESSAGES, show_message),
    ConsolePage("GET", f"{EMAIL}/message/html", Right.READ_MESSAGES, show_html),
    ConsolePage("GET", f"{EMAIL}/message/download", Right.READ_MESSAGES, download),
    ConsolePage("GET", f"{EMAIL}/message/files/{{number}}", Right.READ_MESSAGES, download_file),
)
