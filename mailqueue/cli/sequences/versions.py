"""`mailqueue sequence versions` and others: the versions of a sequence."""

from dataclasses import asdict

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_facts,
    print_message,
    print_rows,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.shared_options import project_option
from mailqueue.contract.automation.sequences import (
    ContactSequence,
    MovedEnrollments,
    SequenceVersion,
    SequenceVersions,
)
from mailqueue.projects.ids import project_id_of
from mailqueue.sequences import definitions

_VERSIONS = (
    Column("version", "VERSION", numeric=True),
    Column("published_at", "PUBLISHED"),
    Column("created_by", "BY"),
    Column("steps", "STEPS"),
)
_name = click.argument("name", metavar="SEQUENCE")


@click.command(epilog=examples("mailqueue sequence versions onboarding --json"))
@_name
@project_option
@json_option
def versions(*, name: str, project: str) -> None:
    """List the versions of SEQUENCE, newest first, with their steps."""

    async def listed(app: Opened) -> list[SequenceVersion]:
        return await definitions.versions(app.conn, await project_id_of(app.conn, project), name)

    found = execute(listed)
    print_rows(
        found,
        _VERSIONS,
        document=SequenceVersions(found),
        row=lambda one: {
            "version": one.version,
            "published_at": one.published_at,
            "created_by": one.created_by,
            "steps": ", ".join(step["name"] for step in one.steps),
        },
    )


@click.command(epilog=examples("mailqueue sequence publish onboarding"))
@_name
@project_option
@json_option
def publish(*, name: str, project: str) -> None:
    """Publish the draft of SEQUENCE, for contacts that are enrolled from now on."""

    async def published(app: Opened) -> ContactSequence:
        project_id = await project_id_of(app.conn, project)
        return await definitions.publish(app.conn, project_id, name, by=operator())

    print_sequence(execute(published))


@click.command(epilog=examples("mailqueue sequence move onboarding --from-version 1"))
@_name
@click.option(
    "--from-version",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Version to move from.  [default: every other]",
)
@project_option
@json_option
def move(*, name: str, from_version: int | None, project: str) -> None:
    """Move enrollments of SEQUENCE to its published version, by the name of their next step."""

    async def moved(app: Opened) -> MovedEnrollments:
        project_id = await project_id_of(app.conn, project)
        total = 0
        while True:
            found = await definitions.move(
                app.conn, project_id, name, from_version=from_version, by=operator()
            )
            total += found.moved
            if not found.moved:
                return MovedEnrollments(total, found.remaining)

    done = execute(moved)
    print_message(
        done, f"{done.moved} enrollments moved, {done.remaining} remain on another version"
    )


def print_sequence(one: ContactSequence) -> None:
    """Print a sequence and its settings."""
    print_facts(one, [(key.replace("_", " "), value) for key, value in asdict(one).items()])
