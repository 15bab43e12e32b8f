"""Pages that suppress addresses: those typed into a form, and those of a file."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import BinaryIO

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.suppression.pages import PATH, REASONS
from mailqueue.contract.background import ImportKind
from mailqueue.contract.suppression import ImportedSuppressions, SuppressionReason
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.imports import requests
from mailqueue.imports.model import WantedImport
from mailqueue.suppression import entries
from mailqueue.suppression.acceptable import MAX_DETAIL_CHARACTERS, new_suppression
from mailqueue.suppression.lists.importing import import_list
from mailqueue.suppression.model import ImportTally, NewSuppression
from mailqueue.web.forms import day_of, text_of
from mailqueue.web.rendering import sentence

MAX_FILE_BYTES = 64 * 1024 * 1024
_FIELDS = ("addresses", "category", "detail", "expires")
_SHOWN_ERRORS = 200


async def ask_addresses(context: PageContext) -> Response:
    """Show the form in which addresses are typed."""
    return _addresses(context, {name: context.query(name) for name in _FIELDS})


async def add(context: PageContext) -> Response:
    """Suppress the addresses of the form, all or none."""
    try:
        wanted = _wanted(context.form)
        async with context.acting_once() as conn:
            await entries.add(conn, context.seen.name, entries=wanted, by=context.user.by)
    except DoneBefore:
        return _done(context, "before")
    except InvalidField as exc:
        field = {"emails": "addresses", "expires_at": "expires"}.get(exc.field, exc.field)
        return _addresses(context, context.form, {field: sentence(exc.why)})
    return _done(context, "added")


async def ask_file(context: PageContext) -> Response:
    """Show the form that takes a file."""
    return _file(context)


async def import_file(context: PageContext) -> Response:
    """Begin the import of a file, or count what it would do."""
    reason = text_of(context.form, "reason")
    if reason not in dict(REASONS):
        return _file(context, fault=("reason", "Must be one of those shown."))
    if context.upload is None:
        return _file(context, fault=("file", "Choose a file."))
    file = context.upload.file
    name = (context.upload.filename or "").replace("\0", "\ufffd")[:200]
    try:
        if text_of(context.form, "checks") == "on":
            tally = await _checked(context, file, reason)
            return _file(context, result=tally.result(is_trial=True), name=name)
        options = {"reason": reason} if reason else {}
        wanted = WantedImport(ImportKind.SUPPRESSIONS, file, name, options)
        async with context.acting_once() as conn:
            made = await requests.begin(conn, context.seen.id, wanted, by=context.user.by)
    except DoneBefore:
        return _done(context, "before")
    except InvalidField as exc:
        return _file(context, fault=(exc.field, sentence(exc.why)))
    except Conflict as exc:
        return _file(context, fault=("file", sentence(str(exc))))
    return context.redirect(project_path(context.seen.name, "imports", made.id))


async def _checked(context: PageContext, file: BinaryIO, reason: str) -> ImportTally:
    """Return what the import of a file would do."""
    tally = ImportTally()
    async with context.connection() as conn:
        await import_list(
            conn,
            context.seen.name,
            file=file,
            otherwise=SuppressionReason(reason) if reason else None,
            is_trial=True,
            by=context.user.by,
            tally=tally,
        )
    return tally


def _wanted(form: Mapping[str, str]) -> list[NewSuppression]:
    """Return the suppressions of a form.

    Raises:
        InvalidField: an address cannot be read, or a field is invalid.
    """
    expires = text_of(form, "expires")
    if expires and day_of(expires) is None:
        raise InvalidField("expires_at", "must be a day such as 2030-05-01")
    lines = [line.strip() for line in form.get("addresses", "").splitlines()]
    wanted = []
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            wanted.append(
                new_suppression(
                    line,
                    category=text_of(form, "category"),
                    detail=text_of(form, "detail"),
                    expires_at=f"{expires}T00:00:00Z" if expires else None,
                )
            )
        except InvalidField as exc:
            if exc.field != "email":
                raise
            raise InvalidField("emails", f"line {number}: {exc.why}") from None
    return wanted


def _addresses(
    context: PageContext, typed: Mapping[str, str], faults: Mapping[str, str] | None = None
) -> Response:
    return context.form_page(
        "suppression/add.html",
        typed,
        faults,
        most=entries.MAX_ADDRESSES,
        longest=MAX_DETAIL_CHARACTERS,
    )


def _file(
    context: PageContext,
    *,
    result: ImportedSuppressions | None = None,
    name: str = "",
    fault: tuple[str, str] | None = None,
) -> Response:
    return context.page(
        "suppression/import.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if fault else HTTPStatus.OK,
        typed=context.form,
        faults=dict([fault]) if fault else {},
        reasons=[("", "that of each line; manual without one"), *REASONS[1:]],
        result=result,
        name=name,
        shown=_SHOWN_ERRORS,
        max_bytes=MAX_FILE_BYTES,
    )


def _done(context: PageContext, what: str) -> Response:
    return context.redirect(project_path(context.seen.name, "suppressions", done=what))


PAGES = (
    ConsolePage("GET", f"{PATH}/add", Right.MANAGE_RECIPIENTS, ask_addresses),
    ConsolePage("POST", f"{PATH}/add", Right.MANAGE_RECIPIENTS, add, keeps=_FIELDS),
    ConsolePage("GET", f"{PATH}/import", Right.MANAGE_RECIPIENTS, ask_file),
    ConsolePage(
        "POST",
        f"{PATH}/import",
        Right.MANAGE_RECIPIENTS,
        import_file,
        max_upload=MAX_FILE_BYTES,
    ),
)
