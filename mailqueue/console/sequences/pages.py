"""The sequences of a project, one with its steps and who is in it, and one enrollment."""

from http import HTTPStatus
from uuid import UUID

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.contract.automation.sequences import (
    Enrollment,
    EnrollmentDetail,
    EnrollmentState,
)
from mailqueue.contract.page import Page
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.core.paging import key_of
from mailqueue.db.fetch import Conn
from mailqueue.sequences import definitions, enrollments
from mailqueue.web.rendering import sentence

PATH = "/console/projects/{project}/sequences"
SEQUENCE = f"{PATH}/{{sequence}}"
ENROLLMENT = f"{SEQUENCE}/enrollments/{{enrollment_id}}"
PAGE_ROWS = 50
STATES = (("", "any"), *((state.value, state.value) for state in EnrollmentState))
UNFINISHED = frozenset({EnrollmentState.ACTIVE, EnrollmentState.PAUSED})
DONE = {
    "paused": "The sequence is paused: no step is done until it is resumed.",
    "resumed": "The sequence is resumed. Steps that were due meanwhile are done now.",
    "ended": "The enrollment has ended: no further step is done.",
    "before": "This was done before, and was not done again.",
}


async def show_sequences(context: PageContext) -> Response:
    """List sequences by name."""
    async with context.connection() as conn:
        found = await definitions.list_(conn, context.seen.id)
    return context.page("sequences/list.html", sequences=found)


async def show_sequence(context: PageContext) -> Response:
    """Show the steps of one version with counts, and enrollments, newest first, with filters."""
    typed = {name: context.query(name) for name in ("state", "email")}
    faults = {} if typed["state"] in dict(STATES) else {"state": "must be one of those shown"}
    found: Page[Enrollment] = Page([], None)
    async with context.connection() as conn:
        sequence = await definitions.get(conn, context.seen.id, name_of(context))
        versions = await definitions.versions(conn, context.seen.id, sequence.name)
        counts = await definitions.counts(
            conn, context.seen.id, sequence.name, version=_version_of(context), is_test=False
        )
        if not faults:
            (before,) = key_of(context.query("cursor") or None, UUID)
            try:
                async with conn.transaction():
                    found = await enrollments.list_page(
                        conn,
                        context.seen.id,
                        sequence=sequence.name,
                        email=typed["email"] or None,
                        state=typed["state"] or None,
                        before=before,
                        limit=PAGE_ROWS,
                    )
            except InvalidField as exc:
                faults["email"] = exc.why
    shown = next(version for version in versions if version.version == counts.version)
    return context.page(
        "sequences/sequence.html",
        status=HTTPStatus.OK,
        sequence=sequence,
        versions=versions,
        shown=shown,
        steps=list(zip(shown.steps, counts.steps, strict=False)),
        enrollments=found.data,
        following=found.next_cursor,
        typed=typed,
        faults=faults,
        states=STATES,
        done=DONE.get(context.query("done"), ""),
    )


async def show_enrollment(context: PageContext) -> Response:
    """Show what a contact got of a sequence, and what it gets next."""
    async with context.connection() as conn:
        found = await find_enrollment(context, conn)
    return context.page(
        "sequences/enrollment.html",
        enrollment=found,
        is_unfinished=found.state in UNFINISHED,
        error=sentence(found.error) if found.error else "",
        done=DONE.get(context.query("done"), ""),
    )


async def find_enrollment(context: PageContext, conn: Conn) -> EnrollmentDetail:
    """Return the enrollment in the path.

    Raises:
        NotFound: the project has no such enrollment in the sequence.
    """
    enrollment_id = context.id_in_path("enrollment_id", "enrollment")
    found = await enrollments.get(conn, context.seen.id, enrollment_id)
    if found.sequence != name_of(context):
        raise NotFound("enrollment", enrollment_id)
    return found


def name_of(context: PageContext) -> str:
    """Return the name of the sequence in the path."""
    name: str = context.request.path_params["sequence"]
    return name.replace("\0", "\ufffd")


def _version_of(context: PageContext) -> int | None:
    """Return the version that is asked for; None: the published one, else the draft.

    Raises:
        NotFound: it is no number.
    """
    given = context.query("version")
    if not given:
        return None
    if not (given.isascii() and given.isdigit() and len(given) < 9):
        raise NotFound("version", given[:100])
    return int(given)


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_sequences, menu=MenuEntry("Sequences", "Automatic")),
    ConsolePage("GET", SEQUENCE, Right.READ, show_sequence),
    ConsolePage("GET", ENROLLMENT, Right.READ, show_enrollment),
)
