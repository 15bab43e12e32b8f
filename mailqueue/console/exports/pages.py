"""The exports of a project: begun, their progress, their files, and their deletion."""

from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from uuid import UUID

from starlette.responses import Response, StreamingResponse

from mailqueue.admin.users.model import Right
from mailqueue.analytics.exports import fetching, requests
from mailqueue.analytics.exports.model import CHOICES, FILTERS
from mailqueue.analytics.exports.writing import MEDIA_TYPES
from mailqueue.console.exports import form as exports_form
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.contract.exports import DataExport, ExportKind
from mailqueue.core.errors import Conflict, Forbidden, InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.web.forms import text_of, uuid_of
from mailqueue.web.rendering import sentence
from mailqueue.web.security_headers import DOWNLOAD_HEADERS

PATH = "/console/projects/{project}/exports"
EXPORT = f"{PATH}/{{export_id}}"
PAGE_ROWS = 20
UNFINISHED = frozenset({"waiting", "running"})
"""States of an export whose page looks for changes."""


async def show_exports(context: PageContext) -> Response:
    """List the exports of a project, newest first."""
    before = uuid_of(context.query("before"))
    async with context.connection() as conn:
        found = await requests.page(conn, context.seen.id, before=before, limit=PAGE_ROWS + 1)
    return context.page(
        "exports/list.html",
        exports=found[:PAGE_ROWS],
        following=found[PAGE_ROWS - 1].id if len(found) > PAGE_ROWS else None,
        kinds=exports_form.KINDS,
        done=context.query("done"),
    )


async def ask_new(context: PageContext) -> Response:
    """Show the form of a new export."""
    typed = {name: context.query(name) for name in exports_form.NAMES}
    return _new(context, typed)


async def begin(context: PageContext) -> Response:
    """Begin an export, once."""
    try:
        wanted = exports_form.wanted_export(context.form, datetime.now(UTC))
        _check_right(context, wanted.kind)
        async with context.acting_once() as conn:
            made = await requests.begin(conn, context.seen.id, wanted, by=context.user.by)
    except DoneBefore:
        return context.redirect(project_path(context.seen.name, "exports", done="before"))
    except InvalidField as exc:
        return _new(context, context.form, {exc.field: sentence(exc.why)})
    except Conflict as exc:
        return _new(context, context.form, {"": sentence(str(exc))})
    return context.redirect(project_path(context.seen.name, "exports", made.id))


async def show_export(context: PageContext) -> Response:
    """Show one export and its progress; a script asks for it again and again."""
    async with context.connection() as conn:
        found = await _found(context, conn)
    return context.page(
        "exports/export.html",
        export=found,
        kinds=exports_form.KINDS,
        labels=exports_form.LABELS,
        is_live=found.state in UNFINISHED,
        may_fetch=context.may(exports_form.right_for(found.kind)),
        done=context.query("done"),
    )


async def fetch_file(context: PageContext) -> Response:
    """Return the file of an export, part by part; the audit log has who fetched it."""
    async with context.connection() as conn:
        found = await _found(context, conn)
    _check_right(context, found.kind)
    pieces = await fetching.begin_file(
        context.connection, context.seen.id, found, by=context.user.by
    )
    name = f"{found.kind}-{found.id}.{found.format}"
    return StreamingResponse(
        pieces,
        media_type=MEDIA_TYPES[found.format],
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            **DOWNLOAD_HEADERS,
        },
    )


async def preview_deletion(context: PageContext, conn: Conn) -> ActPreview:
    """Return what the deletion of an export ends."""
    found = await _found(context, conn)
    _check_right(context, found.kind)
    if found.state in UNFINISHED:
        what = "The export ends after the part that is being written, and has no file."
    else:
        rows = f"{found.rows:,} row{'' if found.rows == 1 else 's'}"
        what = f"The file with {rows} is deleted, and links to it end at once."
    return ActPreview(
        exports_form.KINDS[found.kind].lower(), f"{what} What was exported stays in the project."
    )


async def delete(context: PageContext, conn: Conn) -> str:
    """Delete the file of an export."""
    found = await _found(context, conn)
    _check_right(context, found.kind)
    await requests.delete(conn, context.seen.id, found.id, by=context.user.by)
    return project_path(context.seen.name, "exports", found.id, done="deleted")


def _new(
    context: PageContext, typed: Mapping[str, str], faults: Mapping[str, str] | None = None
) -> Response:
    found = dict(faults or {})
    try:
        kind = exports_form.kind_of(text_of(typed, "kind"))
    except InvalidField as exc:
        found[""], kind = sentence(f"{exc.field} {exc.why}"), ExportKind.EMAILS
    _check_right(context, kind)
    path = project_path(context.seen.name, "exports", "new")
    return context.page(
        "exports/new.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if found else HTTPStatus.OK,
        typed=typed,
        faults=found,
        kind=kind,
        kinds=[
            (each, label)
            for each, label in exports_form.KINDS.items()
            if each in exports_form.ROWS and context.may(exports_form.right_for(each))
        ],
        rows=exports_form.ROWS[kind],
        formats=exports_form.FORMATS,
        periods=exports_form.PERIODS,
        conditions=[
            (name, exports_form.LABELS[name], CHOICES.get(name, ())) for name in FILTERS[kind]
        ],
        longest=exports_form.MAX_CONDITION,
        path=path,
    )


def _check_right(context: PageContext, kind: ExportKind) -> None:
    """Raise Forbidden if the user may not read rows of a kind."""
    right = exports_form.right_for(kind)
    if not context.may(right):
        raise Forbidden(f"the right to {right}")


async def _found(context: PageContext, conn: Conn) -> DataExport:
    export_id: UUID = context.id_in_path("export_id", "export")
    return await requests.find(conn, context.seen.id, export_id)


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_exports, menu=MenuEntry("Exports", "Programs")),
    ConsolePage("GET", f"{PATH}/new", Right.READ_MESSAGES, ask_new),
    ConsolePage("POST", f"{PATH}/new", Right.READ_MESSAGES, begin, keeps=exports_form.NAMES),
    ConsolePage("GET", EXPORT, Right.READ, show_export),
    ConsolePage("GET", f"{EXPORT}/file", Right.READ_MESSAGES, fetch_file),
    *button_pages(
        f"{EXPORT}/delete",
        Right.READ_MESSAGES,
        ActPage(
            "Delete the export of",
            "Delete the export",
            preview_deletion,
            delete,
            is_destructive=True,
        ),
    ),
)
