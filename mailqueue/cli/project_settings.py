"""`mailqueue project add|list|show|set`: the projects, and what holds for all their mail."""

from dataclasses import asdict

import click

from mailqueue.cli.context import opened, run
from mailqueue.cli.operator import operator
from mailqueue.cli.output import Column, emit, examples, facts, json_option, table
from mailqueue.tenants import projects
from mailqueue.tenants.model import Project

_COLUMNS = (
    Column("name", "PROJECT"),
    Column("status", "STATUS"),
    Column("from_email", "FROM"),
    Column("reply_to", "REPLY-TO"),
    Column("bounce_address", "BOUNCES"),
)
NONE = "none"
"""What takes a setting back."""


@click.command(epilog=examples("mailqueue project add shop"))
@click.argument("name", metavar="PROJECT")
@json_option
def add(*, name: str, as_json: bool) -> None:
    """Make a project."""

    async def added() -> Project:
        async with opened() as app:
            return await projects.add(app.conn, name, by=operator())

    _print(run(added()), as_json=as_json)


@click.command(name="list", epilog=examples("mailqueue project list"))
@json_option
def list_(*, as_json: bool) -> None:
    """List the projects."""

    async def listed() -> list[Project]:
        async with opened() as app:
            return await projects.list_all(app.conn)

    found = run(listed())
    if as_json:
        emit([asdict(each) for each in found])
    else:
        table(found, _COLUMNS)


@click.command(epilog=examples("mailqueue project show shop"))
@click.argument("name", metavar="PROJECT")
@json_option
def show(*, name: str, as_json: bool) -> None:
    """Show what holds for all mail of a project."""

    async def found() -> Project:
        async with opened() as app:
            return await projects.find(app.conn, name)

    _print(run(found()), as_json=as_json)


@click.command(
    name="set",
    epilog=examples(
        "mailqueue project set shop --from shop@example.com --from-name Shop",
        "mailqueue project set shop --bounce-address bounces@example.com",
        "mailqueue project set shop --allow-from example.com --allow-from '*.example.com'",
        "mailqueue project set shop --reply-to none",
    ),
)
@click.argument("name", metavar="PROJECT")
@click.option("--from", "from_email", metavar="ADDRESS", help="From of mail that names none.")
@click.option("--from-name", metavar="TEXT", help="The name beside it.")
@click.option("--reply-to", metavar="ADDRESS", help="Where answers go if the mail does not say.")
@click.option("--bounce-address", metavar="ADDRESS", help="Where bounces go.  [default: From]")
@click.option(
    "--allow-from",
    "allowed_from",
    multiple=True,
    metavar="PATTERN",
    help="An address, domain or *.domain that mail may name as From; may be repeated.",
)
@click.option(
    "--attachment-type",
    "attachment_types",
    multiple=True,
    metavar="TYPE",
    help="A content type files may have; may be repeated.",
)
@click.option("--attachment-bytes", metavar="N", help="What all files of a mail may have.")
@json_option
def set_(*, name: str, as_json: bool, **given: str | tuple[str, ...] | None) -> None:
    """Change what holds for all mail of a project; the word none takes a setting back."""
    changes = {key: _value(key, value) for key, value in given.items() if value}
    if not changes:
        raise click.UsageError("say what to change, for example --from shop@example.com")

    async def changed() -> Project:
        async with opened() as app:
            return await projects.change(app.conn, name, changes=changes, by=operator())

    _print(run(changed()), as_json=as_json)


def _value(key: str, given: str | tuple[str, ...] | None) -> object:
    if given in (NONE, (NONE,)):
        return None
    if key == "attachment_bytes" and isinstance(given, str) and given.isdigit():
        return int(given)
    return list(given) if isinstance(given, tuple) else given


def _print(project: Project, *, as_json: bool) -> None:
    if as_json:
        emit(asdict(project))
        return
    facts((name.replace("_", " "), _shown(value)) for name, value in asdict(project).items())


def _shown(value: object) -> object:
    return ", ".join(value) if isinstance(value, list) else value
