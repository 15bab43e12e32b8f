"""Pictures of a project's templates: listed, uploaded, shown and deleted."""

from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.templates.owner import PROJECT, path_of
from mailqueue.contract.templates import TemplatePicture
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.templates.pictures import keeping
from mailqueue.templates.pictures.model import MAX_BYTES, MAX_PICTURES, PictureRow
from mailqueue.web.rendering import sentence
from mailqueue.web.security_headers import DOWNLOAD_HEADERS

PATH = f"{PROJECT}/pictures"
_ONE = f"{PATH}/{{picture_id}}"
DONE = {
    "stored": "The picture was stored. The HTML of templates names it by its URL.",
    "removed": "The picture was deleted.",
    "before": "This was done before, and was not done again.",
}
_SHOWN = {**DOWNLOAD_HEADERS, "Cache-Control": "private, max-age=3600"}


async def show_list(context: PageContext) -> Response:
    """List the pictures of the project, newest first."""
    async with context.connection() as conn:
        found = await keeping.list_all(conn, context.seen.id)
    return context.page(
        "templates/pictures.html",
        pictures=found,
        size=sum(each.bytes for each in found),
        most=MAX_PICTURES,
        path_of=path_of,
        done=DONE.get(context.query("done"), ""),
    )


async def show_picture(context: PageContext) -> Response:
    """Show a picture, its URL, and the templates that use it."""
    async with context.connection() as conn:
        found = await _find(context, conn)
        users = await keeping.templates_with(conn, context.seen.id, found)
    return context.page(
        "templates/picture.html",
        picture=found,
        url=_value_of(context, found).url,
        users=users,
        path_of=path_of,
        done=DONE.get(context.query("done"), ""),
    )


async def show_bytes(context: PageContext) -> Response:
    """Return the picture itself, for pages of the console."""
    picture_id = context.id_in_path("picture_id", "picture")
    async with context.connection() as conn:
        found = await keeping.read(conn, context.seen.id, picture_id)
    return Response(found.octets, headers=_SHOWN, media_type=found.media_type)


async def ask_file(context: PageContext) -> Response:
    """Show the form that takes a picture."""
    return _form(context)


async def upload(context: PageContext) -> Response:
    """Store the picture of the form."""
    if context.upload is None:
        return _form(context, {"file": "Choose a file."})
    try:
        octets = await context.upload.read(MAX_BYTES + 1)
        new = await keeping.received(context.upload.filename or "", octets)
        async with context.acting_once() as conn:
            made = await keeping.add(conn, context.seen.id, new, by=context.user.by)
    except DoneBefore:
        return context.redirect(path_of(context, "pictures", done="before"))
    except InvalidField as exc:
        why = exc.why if exc.field == "file" else f"{exc.field}: {exc.why}"
        return _form(context, {"file": sentence(why)})
    return context.redirect(path_of(context, "pictures", made.id, done="stored"))


async def preview_removal(context: PageContext, conn: Conn) -> ActPreview:
    """Return what ends with a picture, and which templates use it."""
    found = await _find(context, conn)
    users = await keeping.templates_with(conn, context.seen.id, found)
    named = f"These templates use it now: {', '.join(users)}. " if users else ""
    return ActPreview(
        found.name,
        f"{named}Emails that name it show nothing in its place, those sent before included. "
        "It cannot be undone: the picture gets another URL when it is uploaded again.",
    )


async def remove(context: PageContext, conn: Conn) -> str:
    """Delete the picture; return the path of the list."""
    picture_id = context.id_in_path("picture_id", "picture")
    await keeping.remove(conn, context.seen.id, picture_id, by=context.user.by)
    return path_of(context, "pictures", done="removed")


async def _find(context: PageContext, conn: Conn) -> PictureRow:
    """Return the picture in the path.

    Raises:
        NotFound: the project has no such picture.
    """
    picture_id = context.id_in_path("picture_id", "picture")
    return await keeping.find(conn, context.seen.id, picture_id)


def _value_of(context: PageContext, row: PictureRow) -> TemplatePicture:
    return keeping.value_of(row, public_url=context.console.settings.tracking.public_url)


def _form(context: PageContext, faults: Mapping[str, str] | None = None) -> Response:
    return context.page(
        "templates/upload.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if faults else HTTPStatus.OK,
        faults=faults or {},
        path_of=path_of,
    )


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_list),
    ConsolePage("GET", _ONE, Right.READ, show_picture),
    ConsolePage("GET", f"{_ONE}/file", Right.READ, show_bytes),
    ConsolePage("GET", f"{PATH}/new", Right.CONFIGURE, ask_file),
    ConsolePage("POST", f"{PATH}/new", Right.CONFIGURE, upload, max_upload=MAX_BYTES),
    *button_pages(
        f"{_ONE}/remove",
        Right.CONFIGURE,
        ActPage(
            "Delete the picture", "Delete the picture", preview_removal, remove, is_destructive=True
        ),
        step_up=True,
    ),
)
