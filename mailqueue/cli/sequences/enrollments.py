"""`mailqueue sequence enroll` and others: contacts in sequences."""

from dataclasses import asdict
from typing import BinaryIO
from uuid import UUID

import click

from mailqueue.cli.inbox.options import pairs_of
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_message,
    print_result,
    print_rows,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column, examples, facts, show, table
from mailqueue.cli.support.shared_options import limit_option, project_option
from mailqueue.contract.automation.sequences import (
    Enrolled,
    EnrolledList,
    Enrollment,
    EnrollmentDetail,
    EnrollmentState,
    EnrollOutcome,
)
from mailqueue.contract.page import Page
from mailqueue.contract.suppression import BadLine
from mailqueue.projects.ids import project_id_of
from mailqueue.sequences import enrollments as verbs
from mailqueue.sequences.importing import EnrollTally, enroll_list

EXIT_BAD_LINES = 1
_COLUMNS = (
    Column("id", "ENROLLMENT"),
    Column("sequence", "SEQUENCE"),
    Column("email", "CONTACT"),
    Column("state", "STATE"),
    Column("reason", "REASON"),
    Column("step", "NEXT"),
    Column("due_at", "DUE"),
)
_STEPS = (
    Column("step", "STEP"),
    Column("result", "RESULT"),
    Column("email_id", "EMAIL"),
    Column("done_at", "DONE"),
)
_WORDS = {
    EnrollOutcome.ENROLLED: "is enrolled",
    EnrollOutcome.RESTARTED: "begins again",
    EnrollOutcome.ALREADY_ENROLLED: "is enrolled already",
    EnrollOutcome.ENROLLED_BEFORE: "was enrolled before, and is not enrolled again",
    EnrollOutcome.SUPPRESSED: "is suppressed",
}
_sequence = click.argument("sequence", metavar="SEQUENCE")
_id = click.argument("enrollment_id", metavar="ENROLLMENT", type=click.UUID)


@click.command(
    epilog=examples("mailqueue sequence enroll onboarding ann@example.com --variable plan=pro")
)
@_sequence
@click.argument("email", metavar="ADDRESS")
@click.option(
    "--variable",
    "variables",
    metavar="NAME=VALUE",
    multiple=True,
    help="Variable of the mails; may be repeated.",
)
@project_option
@json_option
def enroll(*, sequence: str, email: str, variables: tuple[str, ...], project: str) -> None:
    """Enroll the contact of ADDRESS in SEQUENCE."""
    given = pairs_of("variable", variables)

    async def enrolled(app: Opened) -> Enrolled:
        return await verbs.enroll(
            app.conn,
            await project_id_of(app.conn, project),
            sequence=sequence,
            email=email,
            variables=given,
            is_test=False,
            source=operator(),
        )

    done = execute(enrolled)
    which = "" if done.enrollment_id is None else f": {done.enrollment_id}"
    print_message(done, f"{show(email)} {_WORDS[done.outcome]}{which}")


@click.command(
    "import", epilog=examples("mailqueue sequence import onboarding contacts.csv --project shop")
)
@_sequence
@click.argument("file", metavar="FILE", type=click.File("rb"))
@project_option
@json_option
@click.pass_context
def import_(ctx: click.Context, *, sequence: str, file: BinaryIO, project: str) -> None:
    """Enroll the contacts of a file in SEQUENCE: CSV with a header, or JSON.

    The column email has the address, others are variables. Invalid lines are reported with their
    number and do not stop the others.
    """
    tally = EnrollTally()

    async def imported(app: Opened) -> EnrolledList:
        await enroll_list(
            app.conn,
            await project_id_of(app.conn, project),
            sequence=sequence,
            file=file,
            is_test=False,
            source=operator(),
            tally=tally,
            tell=_tell,
        )
        return tally.result()

    done = execute(imported)
    print_message(
        done,
        f"{done.enrolled} enrolled, {done.unchanged} enrolled before, {done.suppressed} suppressed,"
        f" {done.bad} invalid lines",
    )
    if done.bad:
        ctx.exit(EXIT_BAD_LINES)


@click.command(epilog=examples("mailqueue sequence unenroll 0197b8f0-0000-7000-8000-0000000000aa"))
@_id
@json_option
def unenroll(*, enrollment_id: UUID) -> None:
    """End ENROLLMENT: no further step is done."""

    async def ended(app: Opened) -> EnrollmentDetail:
        return await verbs.end(app.conn, None, enrollment_id, by=operator())

    done = execute(ended)
    print_message(done, f"{show(done.email)} left sequence {show(done.sequence)}")


@click.command(
    epilog=examples("mailqueue sequence enrollment 0197b8f0-0000-7000-8000-0000000000aa")
)
@_id
@json_option
def enrollment(*, enrollment_id: UUID) -> None:
    """Show what ENROLLMENT did and will do next."""

    async def read(app: Opened) -> EnrollmentDetail:
        return await verbs.get(app.conn, None, enrollment_id)

    one = execute(read)

    def as_text() -> None:
        found = asdict(one)
        found.pop("steps")
        facts([(key.replace("_", " "), value) for key, value in found.items()])
        table([asdict(step) for step in one.steps], _STEPS)

    print_result(one, as_text)


@click.command(
    epilog=examples("mailqueue sequence enrollments --sequence onboarding --state active")
)
@click.option("--sequence", metavar="NAME", help="Filter by sequence.")
@click.option("--email", metavar="ADDRESS", help="Filter by contact.")
@click.option(
    "--state",
    type=click.Choice([one.value for one in EnrollmentState]),
    help="Filter by state.",
)
@limit_option()
@project_option
@json_option
def enrollments(
    *, sequence: str | None, email: str | None, state: str | None, limit: int, project: str
) -> None:
    """List enrollments, newest first."""

    async def listed(app: Opened) -> Page[Enrollment]:
        return await verbs.list_page(
            app.conn,
            await project_id_of(app.conn, project),
            sequence=sequence,
            email=email,
            state=state,
            before=None,
            limit=limit,
        )

    found = execute(listed)
    print_rows(found.data, _COLUMNS, document=found)


def _tell(bad: BadLine) -> None:
    click.echo(f"line {bad.line}: {show(bad.text)}", err=True)
