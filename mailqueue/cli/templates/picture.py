"""`mailqueue template picture`: pictures that the HTML of templates names by a public URL."""

from pathlib import Path
from typing import BinaryIO
from uuid import UUID

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_message, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.contract.page import Page
from mailqueue.contract.templates import TemplatePicture
from mailqueue.projects.ids import project_id_of
from mailqueue.templates.pictures import keeping
from mailqueue.templates.pictures.model import MAX_BYTES, PictureRow

_COLUMNS = (
    Column("id", "PICTURE"),
    Column("name", "NAME"),
    Column("media_type", "TYPE"),
    Column("width", "WIDTH", numeric=True),
    Column("height", "HEIGHT", numeric=True),
    Column("bytes", "BYTES", numeric=True),
    Column("url", "URL"),
)
_project_option = click.option(
    "--project", default="default", show_default=True, help="Project of the picture."
)


@click.group(
    cls=CommandGroup,
    old_names={"upload": "add", "delete": "remove"},
    epilog=examples(
        "mailqueue template picture add logo.png",
        "mailqueue template picture list --json",
    ),
)
def picture() -> None:
    """Manage pictures, which the HTML of templates names by a public URL."""


@picture.command(epilog=examples("mailqueue template picture add logo.png --project shop"))
@click.argument("file", metavar="FILE", type=click.File("rb"))
@click.option("--name", help="File name, for people.  [default: that of FILE]")
@_project_option
@json_option
def add(*, file: BinaryIO, name: str | None, project: str) -> None:
    """Upload a picture: PNG, JPEG, GIF or WebP, at most 1 MiB."""
    octets = file.read(MAX_BYTES + 1)

    async def stored(app: Opened) -> TemplatePicture:
        new = await keeping.received(name or Path(file.name).name, octets)
        owner = await project_id_of(app.conn, project)
        return _value_of(app, await keeping.add(app.conn, owner, new, by=operator()))

    made = execute(stored)
    print_message(made, f"{made.name} is stored: {made.url or made.id}")


@picture.command("list", epilog=examples("mailqueue template picture list --project shop"))
@_project_option
@json_option
def list_(*, project: str) -> None:
    """List pictures, newest first."""

    async def listed(app: Opened) -> list[TemplatePicture]:
        owner = await project_id_of(app.conn, project)
        return [_value_of(app, one) for one in await keeping.list_all(app.conn, owner)]

    found = execute(listed)
    print_rows(found, _COLUMNS, document=Page(found, None))


@picture.command(
    epilog=examples(
        "mailqueue template picture remove 0198c0f2-8f4e-7c31-9d7e-0c5b5e0c7a11 --project shop"
    )
)
@click.argument("picture_id", type=click.UUID, metavar="PICTURE")
@_project_option
@asks_first("Remove picture {picture_id}, which emails that name it no longer show?")
def remove(*, picture_id: UUID, project: str) -> None:
    """Remove a picture, by its id in the list."""

    async def work(app: Opened) -> None:
        owner = await project_id_of(app.conn, project)
        await keeping.remove(app.conn, owner, picture_id, by=operator())

    execute(work)
    click.echo(f"picture {picture_id} is removed")


def _value_of(app: Opened, row: PictureRow) -> TemplatePicture:
    return keeping.value_of(row, public_url=app.settings.tracking.public_url)
