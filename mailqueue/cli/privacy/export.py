"""`mailqueue export-person`: all data stored about a person, as one JSON document."""

import click

from mailqueue.cli.maintenance.context import maintenance_context
from mailqueue.cli.support.app import run
from mailqueue.cli.support.output import emit, examples
from mailqueue.contract.privacy import PersonExport, ProjectExport
from mailqueue.privacy import persons
from mailqueue.privacy.exporting import export_from_all, export_person


@click.command(
    "export-person",
    epilog=examples(
        "mailqueue export-person ann@example.com > ann.json",
        "mailqueue export-person ann@example.com --project shop",
    ),
)
@click.argument("email", metavar="ADDRESS")
@click.option("--project", help="Project to export from.  [default: all projects]")
def export(*, email: str, project: str | None) -> None:
    """Print all data stored about the person with ADDRESS, including archives."""
    emit(run(_exported(email, project)))


async def _exported(email: str, project: str | None) -> PersonExport:
    spellings = persons.spellings_of(email)
    async with maintenance_context(lambda _: None) as desk:
        lend = persons.lending(desk.conn)
        if project is None:
            found = await export_from_all(lend, spellings, context=desk)
        else:
            [named] = await persons.projects(desk.conn, project)
            found = [await export_person(lend, named, spellings, context=desk)]
    told = [
        ProjectExport(
            spellings[0], one["mails"], one["records"], one["archives"], project=one["project"]
        )
        for one in found
        if one["mails"] or one["records"] or one["archives"]
    ]
    return PersonExport(spellings[0], told)
