"""The contact lists of a project, one with its members, and the import of contacts into it."""

from http import HTTPStatus
from typing import BinaryIO
from uuid import UUID

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.contacts.pages import PATH as CONTACTS
from mailqueue.console.contacts.pages import number_in
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.contacts import lists
from mailqueue.contacts.importing import import_contacts
from mailqueue.contacts.model import ContactTally
from mailqueue.contract.background import ImportKind
from mailqueue.contract.contacts import ContactList, ImportedContacts, ListCount, MemberStatus
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.core.paging import key_of
from mailqueue.db.fetch import Conn
from mailqueue.imports import requests
from mailqueue.imports.model import WantedImport
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence

PATH = "/console/projects/{project}/lists"
LIST = f"{PATH}/{{list}}"
PAGE_ROWS = 50
MAX_FILE_BYTES = 64 * 1024 * 1024
COUNTED_FOR = "marketing"
"""Category for whose suppressions the members of a list are counted."""


async def show_lists(context: PageContext) -> Response:
    """List the contact lists by name."""
    async with context.connection() as conn:
        found = await lists.list_(conn, context.seen.id)
    return context.page("contacts/lists.html", lists=found)


async def show_list(context: PageContext) -> Response:
    """Show one list: its condition, its members or those that have not confirmed, and their number
    where that is asked for.
    """
    counts: ListCount | None = None
    is_pending = context.query("status") == MemberStatus.PENDING
    status = MemberStatus.PENDING if is_pending else MemberStatus.ACTIVE
    (after,) = key_of(context.query("cursor") or None, UUID)
    async with context.connection() as conn:
        found = await _found(context, conn)
        if context.query("counts") == "on":  # reads all contacts of a list with a condition
            counts = await lists.count(conn, context.seen.id, found.name, category=COUNTED_FOR)
        members = await lists.members(
            conn, context.seen.id, found.name, status=status, after=after, limit=PAGE_ROWS
        )
    return context.page(
        "contacts/one_list.html",
        list=found,
        counts=counts,
        category=COUNTED_FOR,
        members=members.data,
        is_pending=is_pending,
        following=members.next_cursor,
        done=context.query("done"),
        moved=number_in(context, "members"),
    )


async def ask_file(context: PageContext) -> Response:
    """Show the form that takes a file of contacts."""
    return await _file(context)


async def import_file(context: PageContext) -> Response:
    """Begin the import of a file, or count what it would do."""
    if context.upload is None:
        return await _file(context, fault=("file", "Choose a file."))
    name = (context.upload.filename or "").replace("\0", "\ufffd")[:200]
    try:
        if text_of(context.form, "checks") == "on":
            tally = await _checked(context, context.upload.file)
            return await _file(context, result=tally.result(is_trial=True), name=name)
        options = {"list": _name_of(context)} if _name_of(context) else {}
        wanted = WantedImport(ImportKind.CONTACTS, context.upload.file, name, options)
        async with context.acting_once() as conn:
            made = await requests.begin(conn, context.seen.id, wanted, by=context.user.by)
    except DoneBefore:
        above = context.request.url.path.rpartition("/")[0]
        return context.redirect(f"{above}?done=before")
    except InvalidField as exc:
        return await _file(context, fault=("file", sentence(exc.why)))
    except Conflict as exc:
        return await _file(context, fault=("file", sentence(str(exc))))
    return context.redirect(project_path(context.seen.name, "imports", made.id))


async def _checked(context: PageContext, file: BinaryIO) -> ContactTally:
    """Return what the import of a file would do."""
    tally = ContactTally()
    async with context.connection() as conn:
        found = await _found(context, conn) if _name_of(context) else None
        await import_contacts(
            conn,
            context.seen.id,
            file=file,
            list_name=None if found is None else found.name,
            is_trial=True,
            tally=tally,
        )
    return tally


async def _file(
    context: PageContext,
    *,
    result: ImportedContacts | None = None,
    name: str = "",
    fault: tuple[str, str] | None = None,
) -> Response:
    found = None
    if _name_of(context):
        async with context.connection() as conn:
            found = await _found(context, conn)
    return context.page(
        "contacts/import.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if fault else HTTPStatus.OK,
        faults=dict([fault]) if fault else {},
        list=found,
        path=context.request.url.path,
        result=result,
        name=name,
        max_bytes=MAX_FILE_BYTES,
    )


def _name_of(context: PageContext) -> str:
    """Return the name of the list in the path; empty for all contacts."""
    name: str = context.request.path_params.get("list", "")
    return name.replace("\0", "\ufffd")


async def _found(context: PageContext, conn: Conn) -> ContactList:
    return await lists.get(conn, context.seen.id, _name_of(context))


def _imports(above: str) -> tuple[ConsolePage, ConsolePage]:
    path = f"{above}/import"
    return (
        ConsolePage("GET", path, Right.MANAGE_RECIPIENTS, ask_file),
        ConsolePage("POST", path, Right.MANAGE_RECIPIENTS, import_file, max_upload=MAX_FILE_BYTES),
    )


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_lists, menu=MenuEntry("Lists", "Recipients")),
    ConsolePage("GET", LIST, Right.READ, show_list),
    *_imports(LIST),
    *_imports(CONTACTS),
)
