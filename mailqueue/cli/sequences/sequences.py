"""`mailqueue sequence`: mails that contacts get one after another."""

from dataclasses import asdict
from typing import Any, TextIO

import click

from mailqueue.cli.inbox.options import payload_of
from mailqueue.cli.sequences.enrollments import enroll, enrollment, enrollments, import_, unenroll
from mailqueue.cli.sequences.versions import move, print_sequence, publish, versions
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_rows,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples, show
from mailqueue.cli.support.shared_options import project_option
from mailqueue.contract.automation.sequences import (
    ContactSequence,
    ContactSequences,
    Reenroll,
    SequenceCounts,
)
from mailqueue.core.errors import InvalidField
from mailqueue.projects.ids import project_id_of
from mailqueue.sequences import definitions

_COLUMNS = (
    Column("name", "SEQUENCE"),
    Column("category", "CATEGORY"),
    Column("reenroll", "REENROLL"),
    Column("is_paused", "PAUSED"),
    Column("published_version", "PUBLISHED", numeric=True),
    Column("draft_version", "DRAFT", numeric=True),
)
_COUNTS = (
    Column("step", "STEP"),
    Column("entered", "ENTERED", numeric=True),
    Column("sent", "SENT", numeric=True),
    Column("skipped", "SKIPPED", numeric=True),
    Column("waiting", "WAITING", numeric=True),
    Column("departures", "LEFT"),
)
_name = click.argument("name", metavar="SEQUENCE")
_description = click.option("--description", metavar="TEXT", help="Description for people.")
_category = click.option("--category", metavar="WORD", help="Category of its mails.")
_reenroll = click.option(
    "--reenroll",
    type=click.Choice([one.value for one in Reenroll]),
    help="Whether a contact is enrolled again.  [default: never]",
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue sequence add onboarding onboarding.json",
        "mailqueue sequence publish onboarding",
        "mailqueue sequence enroll onboarding ann@example.com",
    ),
)
def sequence() -> None:
    """Manage sequences: mails that a contact gets one after another once it is enrolled."""


for _command in (enroll, unenroll, enrollment, enrollments, import_, versions, publish, move):
    sequence.add_command(_command)


@sequence.command(epilog=examples("mailqueue sequence add onboarding onboarding.json"))
@_name
@click.argument("steps", metavar="FILE", type=click.File(encoding="utf-8"))
@_description
@_category
@_reenroll
@project_option
@json_option
def add(*, name: str, steps: TextIO, project: str, **given: Any) -> None:
    """Add SEQUENCE with the steps in FILE as its draft.

    FILE is JSON: a list of steps, or an object with steps and goal.
    """
    fields = _fields(given) | _steps(steps)

    async def added(app: Opened) -> ContactSequence:
        project_id = await project_id_of(app.conn, project)
        return await definitions.add(app.conn, project_id, name, given=fields, by=operator())

    print_sequence(execute(added))


@sequence.command(
    epilog=examples(
        "mailqueue sequence change onboarding --steps onboarding.json",
        "mailqueue sequence change onboarding --reenroll after_completion",
    )
)
@_name
@click.option("--steps", metavar="FILE", type=click.File(encoding="utf-8"), help="Steps, as JSON.")
@_description
@_category
@_reenroll
@project_option
@json_option
def change(*, name: str, steps: TextIO | None, project: str, **given: Any) -> None:
    """Change settings of SEQUENCE, or the steps of its draft."""
    fields = _fields(given) | ({} if steps is None else _steps(steps))
    if not fields:
        raise InvalidField("sequence", "give at least one setting to change")

    async def changed(app: Opened) -> ContactSequence:
        project_id = await project_id_of(app.conn, project)
        return await definitions.change(app.conn, project_id, name, given=fields, by=operator())

    print_sequence(execute(changed))


@sequence.command("list", epilog=examples("mailqueue sequence list --project shop --json"))
@project_option
@json_option
def list_(*, project: str) -> None:
    """List sequences by name."""

    async def listed(app: Opened) -> list[ContactSequence]:
        return await definitions.list_(app.conn, await project_id_of(app.conn, project))

    found = execute(listed)
    print_rows(found, _COLUMNS, document=ContactSequences(found))


@sequence.command("show", epilog=examples("mailqueue sequence show onboarding"))
@_name
@project_option
@json_option
def show_(*, name: str, project: str) -> None:
    """Show SEQUENCE and its settings."""

    async def found(app: Opened) -> ContactSequence:
        return await definitions.get(app.conn, await project_id_of(app.conn, project), name)

    print_sequence(execute(found))


@sequence.command(epilog=examples("mailqueue sequence pause onboarding"))
@_name
@project_option
@json_option
def pause(*, name: str, project: str) -> None:
    """Pause SEQUENCE: no step is done until it is resumed."""
    print_sequence(_paused(name, project, is_paused=True))


@sequence.command(epilog=examples("mailqueue sequence resume onboarding"))
@_name
@project_option
@json_option
def resume(*, name: str, project: str) -> None:
    """Resume SEQUENCE."""
    print_sequence(_paused(name, project, is_paused=False))


@sequence.command(epilog=examples("mailqueue sequence counts onboarding --version 1"))
@_name
@click.option(
    "--version",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Version.  [default: the published one]",
)
@project_option
@json_option
def counts(*, name: str, version: int | None, project: str) -> None:
    """Count the enrollments at each step of SEQUENCE."""

    async def counted(app: Opened) -> SequenceCounts:
        project_id = await project_id_of(app.conn, project)
        return await definitions.counts(app.conn, project_id, name, version=version, is_test=False)

    found = execute(counted)
    print_rows(
        found.steps,
        _COUNTS,
        document=found,
        row=lambda one: (
            asdict(one)
            | {"departures": ", ".join(f"{n} {why}" for why, n in one.departures.items())}
        ),
    )


@sequence.command(epilog=examples("mailqueue sequence remove onboarding --yes"))
@_name
@project_option
@asks_first("Remove sequence {name} of project {project} and end its enrollments?")
def remove(*, name: str, project: str) -> None:
    """Remove SEQUENCE and end its enrollments. What they did stays recorded."""

    async def removed(app: Opened) -> None:
        project_id = await project_id_of(app.conn, project)
        await definitions.remove(app.conn, project_id, name, by=operator())

    execute(removed)
    click.echo(f"sequence {show(name)} is removed")


def _paused(name: str, project: str, *, is_paused: bool) -> ContactSequence:
    async def done(app: Opened) -> ContactSequence:
        project_id = await project_id_of(app.conn, project)
        return await definitions.pause(
            app.conn, project_id, name, is_paused=is_paused, by=operator()
        )

    return execute(done)


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value or None for name, value in given.items() if value is not None}


def _steps(file: TextIO) -> dict[str, Any]:
    found = payload_of(file)
    return found if isinstance(found, dict) else {"steps": found}
