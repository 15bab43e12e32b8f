"""`mailqueue migrate`: bring the database schema up to date, or show its version."""

import click

from mailqueue.cli.support.answer import json_option, print_facts, print_message
from mailqueue.cli.support.app import run
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.settings import command_settings
from mailqueue.contract.maintenance import Applied, SchemaStatus
from mailqueue.db import migrate as runner

EXIT_PENDING = 1


@click.command(
    epilog=examples(
        "mailqueue migrate",
        "mailqueue migrate --status",
        "DATABASE_URL=postgresql://mailqueue@db.example.com/mailqueue mailqueue migrate --json",
    )
)
@click.option(
    "--status",
    "only_status",
    is_flag=True,
    help="Show the schema version and change nothing; exit 1 if migrations are pending.",
)
@json_option
@click.pass_context
def migrate(ctx: click.Context, *, only_status: bool) -> None:
    """Bring the database schema up to date. Safe to run twice and concurrently."""
    settings = command_settings().database
    if not only_status:
        applied = run(runner.migrate(settings, _say))
        _print_applied(applied)
        return
    status = run(runner.status(settings))
    _print_status(status)
    if not status.is_current:
        ctx.exit(EXIT_PENDING)


def _say(line: str) -> None:
    click.echo(line, err=True)


def _print_applied(applied: Applied) -> None:
    migrations = len(applied.migrations)
    print_message(
        applied,
        f"the schema is at version {applied.version}: "
        f"{migrations} migration{'' if migrations == 1 else 's'} applied, "
        f"{applied.objects} files of functions, views, comments and grants re-applied",
    )


def _print_status(status: runner.MigrationStatus) -> None:
    print_facts(
        SchemaStatus(
            status.version,
            status.newest_known,
            status.is_current,
            status.objects_are_current,
            status.pending,
            status.applied,
        ),
        (
            ("version", status.version),
            ("newest known", status.newest_known),
            ("pending", status.pending),
            ("functions, views", "current" if status.objects_are_current else "to be re-applied"),
            ("up to date", status.is_current),
        ),
    )
