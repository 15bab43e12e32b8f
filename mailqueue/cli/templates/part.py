"""`mailqueue template part`: layouts and partials, shared by templates."""

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.text_file import text_file_option
from mailqueue.cli.templates.options import owner_of, owner_options
from mailqueue.contract.page import Page
from mailqueue.templates import values, writing
from mailqueue.templates.model import PartKind, PartRow

_COLUMNS = (
    Column("name", "NAME"),
    Column("kind", "KIND"),
    Column("updated_at", "CHANGED"),
    Column("updated_by", "BY"),
)


@click.group(
    cls=CommandGroup,
    old_names={"put": "set", "delete": "remove"},
    epilog=examples(
        "mailqueue template part set base --kind layout --file base.html",
        "mailqueue template part list",
    ),
)
def part() -> None:
    """Manage layouts and partials, which bodies extend and include by name."""


@part.command(
    "set",
    epilog=examples(
        "mailqueue template part set base --kind layout --file base.html",
        "mailqueue template part set footer --file footer.html --platform",
    ),
)
@click.argument("name")
@owner_options
@click.option(
    "--kind",
    type=click.Choice([str(kind) for kind in PartKind]),
    default=str(PartKind.PARTIAL),
    show_default=True,
    help="Kind of part: a layout is extended, a partial is included.",
)
@text_file_option("--file", "source", text="File with the Jinja2 source; - is standard input.")
def set_(*, name: str, project: str | None, kind: str, source: str | None) -> None:
    """Create or replace a part. Existing versions keep the parts they were created with."""
    if source is None:
        raise click.UsageError("give --file")

    async def stored(app: Opened) -> None:
        owner = await owner_of(app, project)
        await writing.put_part(
            app.conn, owner, name=name, kind=PartKind(kind), source=source, by=operator()
        )

    execute(stored)
    click.echo(f"{kind} {name} is stored")


@part.command("list", epilog=examples("mailqueue template part list --json"))
@owner_options
@json_option
def list_(*, project: str | None) -> None:
    """List parts by name, including those of the platform."""

    async def listed(app: Opened) -> list[PartRow]:
        return await writing.list_parts(app.conn, await owner_of(app, project))

    found = execute(listed)
    document = Page([values.part_of(one) for one in found], None)
    print_rows(found, _COLUMNS, document=document)


@part.command(epilog=examples("mailqueue template part remove footer"))
@click.argument("name")
@owner_options
@asks_first("Remove {name}?")
def remove(*, name: str, project: str | None) -> None:
    """Remove a part. Versions created with it keep it."""

    async def work(app: Opened) -> None:
        owner = await owner_of(app, project)
        await writing.remove_part(app.conn, owner, name=name, by=operator())

    execute(work)
    click.echo(f"{name} is removed")
