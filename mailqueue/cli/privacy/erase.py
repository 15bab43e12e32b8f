"""`mailqueue erase`: erase all data stored about a person."""

from uuid import UUID

import click

from mailqueue.cli.maintenance.context import maintenance_context
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import json_option, print_result
from mailqueue.cli.support.app import run
from mailqueue.cli.support.output import Column, examples, show, table
from mailqueue.contract.privacy import CountedPerson, MentionCount, PersonErasure, ProjectErasure
from mailqueue.contract.value import named
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.privacy import erasing, persons
from mailqueue.privacy.model import ErasureProgress
from mailqueue.privacy.unfinished import finish_all
from mailqueue.privacy.values import state_of

EXIT_LEFT = 1
_COUNTED = (
    Column("project", "PROJECT"),
    Column("table", "TABLE"),
    Column("rows", "ROWS", numeric=True),
)
_DONE = (
    Column("project", "PROJECT"),
    Column("state", "STATE"),
    Column("mails", "MAILS", numeric=True),
    Column("rows", "ROWS", numeric=True),
)


@click.command(
    epilog=examples(
        "mailqueue erase ann@example.com",
        "mailqueue erase ann@example.com --yes",
        "mailqueue erase ann@example.com --project shop --suppress --yes",
        "mailqueue erase --unfinished",
    )
)
@click.argument("email", metavar="ADDRESS", required=False)
@click.option("--project", help="Project to erase from.  [default: all projects]")
@click.option(
    "--suppress", is_flag=True, help="Suppress the address, so that it never gets another email."
)
@click.option("--yes", is_flag=True, help="Erase the data. Without it, rows are only counted.")
@click.option(
    "--unfinished", is_flag=True, help="Continue erasures started earlier, here or by the API."
)
@click.option(
    "--wait",
    type=float,
    default=60.0,
    show_default=True,
    help="Seconds to wait for emails that are being sent.",
)
@json_option
@click.pass_context
def erase(
    ctx: click.Context,
    *,
    email: str | None,
    project: str | None,
    suppress: bool,
    yes: bool,
    unfinished: bool,
    wait: float,
) -> None:
    """Erase all data stored about the person with ADDRESS.

    Erases rows, message contents sent only to them, attachments and archived records. Unfinished
    emails to them are cancelled. Suppressions stay in force, stored as a hash of the address.
    Without --yes the matching rows are only counted. An interrupted erasure can be continued.
    """
    if unfinished == (email is not None):
        raise click.UsageError("give ADDRESS or --unfinished")
    if email is not None and not yes:
        _print_counted(run(_counted(email, project)))
        return
    done = run(_finished() if email is None else _erased(email, project, suppress, wait))
    _print_done(done)
    if not all(each.is_done for _, each in done):
        ctx.exit(EXIT_LEFT)


async def _counted(email: str, project: str | None) -> list[MentionCount]:
    spellings = persons.spellings_of(email)
    async with maintenance_context(lambda _: None) as desk:
        found = list[MentionCount]()
        for one in await persons.concerned(desk.conn, project, spellings):
            found += await persons.count(persons.lending(desk.conn), one, spellings)
        return found


async def _erased(
    email: str, project: str | None, suppress: bool, wait: float
) -> list[tuple[str, ErasureProgress]]:
    spellings = persons.spellings_of(email)
    async with maintenance_context(lambda _: None) as desk:
        lend, by = persons.lending(desk.conn), operator()
        # All are begun first: no mail of another project leaves meanwhile.
        begun = [
            (
                one.name,
                await erasing.begin(lend, one.id, spellings, suppress=suppress, by=by),
            )
            for one in await persons.concerned(desk.conn, project, spellings)
        ]
        return [(name, await _gone(desk, erasure_id, wait)) for name, erasure_id in begun]


async def _gone(context: MaintenanceContext, erasure_id: UUID, wait: float) -> ErasureProgress:
    return await erasing.go_on(
        persons.lending(context.conn),
        erasure_id,
        context=context,
        by=operator(),
        patience_seconds=wait,
    )


async def _finished() -> list[tuple[str, ErasureProgress]]:
    async with maintenance_context(lambda _: None) as desk:
        names = {one.id: one.name for one in await persons.projects(desk.conn, None)}
        done = await finish_all(desk, by=operator())
        return [(names.get(each.erasure.project_id, "-"), each) for each in done]


def _print_counted(counts: list[MentionCount]) -> None:

    def as_text() -> None:
        named = [one for one in counts if not one.is_settings]
        if not named:
            click.echo("no row contains this address")
        else:
            table(named, _COUNTED)
            click.echo("nothing was changed; to erase, run it again with --yes", err=True)
        _warn(counts)

    print_result(CountedPerson(erased=False, rows=counts), as_text)


def _warn(counts: list[MentionCount]) -> None:
    for one in counts:
        if one.is_settings:
            click.echo(
                f"note: {one.table} of project {show(one.project)} contains this address in "
                f"{one.rows} rows of settings, which are not changed",
                err=True,
            )


def _print_done(done: list[tuple[str, ErasureProgress]]) -> None:
    rows = [
        {
            "project": name,
            "state": each.erasure.stage,
            "mails": int(each.erasure.found.get("mails", 0)),
            "rows": sum(n for what, n in each.erasure.found.items() if what != "mails"),
            "waiting": each.waiting,
        }
        for name, each in done
    ]

    def as_text() -> None:
        table([row for row in rows if row["mails"] or row["rows"] or row["state"] != "done"], _DONE)
        for row in rows:
            if row["waiting"]:
                click.echo(
                    f"project {show(row['project'])}: {row['waiting']} emails are being sent at "
                    "this moment; `mailqueue erase --unfinished` goes on",
                    err=True,
                )
        if all(each.is_done for _, each in done):
            click.echo("erased")

    projects = [
        ProjectErasure(**named(state_of(each.erasure)), project=name, waiting=each.waiting)
        for name, each in done
    ]
    print_result(PersonErasure(all(each.is_done for _, each in done), projects), as_text)
