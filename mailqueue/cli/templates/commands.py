"""`mailqueue template`: email templates, with versions and languages."""

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_message,
    print_result,
    print_rows,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples, facts, table
from mailqueue.cli.support.paging import read_page
from mailqueue.cli.templates.options import owner_of, owner_options, template_in
from mailqueue.cli.templates.part import part
from mailqueue.cli.templates.picture import picture
from mailqueue.cli.templates.previews import clone, diff, preview
from mailqueue.cli.templates.version import archive, publish, version
from mailqueue.contract.page import Page
from mailqueue.contract.templates import TemplateVersions
from mailqueue.templates import values, versions, writing
from mailqueue.templates.model import NewTemplate, StoredText, TemplateRow, VersionRow

_COLUMNS = (
    Column("slug", "TEMPLATE"),
    Column("name", "NAME"),
    Column("category", "CATEGORY"),
    Column("published", "PUBLISHED", numeric=True),
    Column("newest", "NEWEST", numeric=True),
    Column("owner", "OF"),
)
_VERSIONS = (
    Column("version", "VERSION", numeric=True),
    Column("status", "STATUS"),
    Column("languages", "LANGUAGES"),
    Column("created_at", "MADE"),
    Column("created_by", "BY"),
    Column("note", "NOTE"),
)


@click.group(
    cls=CommandGroup,
    old_names={"create": "add", "delete": "remove"},
    epilog=examples(
        "mailqueue template add welcome --category onboarding",
        "mailqueue template version welcome --subject 'Hi {{ name }}' --html-file hi.html",
        "mailqueue template preview welcome --var name=Ann",
        "mailqueue template publish welcome",
        "mailqueue send --to ann@example.com --template welcome --var name=Ann",
    ),
)
def template() -> None:
    """Write, preview and publish email templates."""


for _command in (version, publish, archive, clone, diff, preview, part, picture):
    template.add_command(_command)


@template.command(
    epilog=examples(
        "mailqueue template add welcome",
        "mailqueue template add newsletter --category marketing --language de",
        "mailqueue template add otp --platform --name 'One-time code'",
    )
)
@click.argument("slug")
@owner_options
@click.option("--name", help="Display name.  [default: SLUG]")
@click.option("--description", help="Description.")
@click.option(
    "--category", metavar="WORD", help="Category of its emails.  [default: transactional]"
)
@click.option("--language", metavar="TAG", help="Default language.  [default: en]")
@json_option
def add(*, slug: str, project: str | None, **fields: str | None) -> None:
    """Add a template. It can be used after a version of it is published."""

    async def work(app: Opened) -> TemplateRow:
        owner = await owner_of(app, project)
        return await writing.create(app.conn, owner, new=NewTemplate(slug, **fields), by=operator())

    made = execute(work)
    print_message(
        values.template_of(made),
        f"{made.slug} is created: write a version with `mailqueue template version`",
    )


@template.command(
    "list",
    epilog=examples("mailqueue template list", "mailqueue template list --category marketing"),
)
@owner_options
@click.option("--category", metavar="WORD", help="Filter by category.")
@click.option(
    "--status",
    type=click.Choice(["draft", "published", "archived"]),
    help="Filter by status.",
)
@click.option("--search", "q", metavar="TEXT", help="Search in slug, name and description.")
@json_option
def list_(
    *,
    project: str | None,
    category: str | None,
    status: str | None,
    q: str | None,
) -> None:
    """List templates, including those of the platform that the project may use."""

    async def listed(app: Opened) -> Page[TemplateRow]:
        owner = await owner_of(app, project)

        async def read(after: str | None, rows: int) -> list[TemplateRow]:
            return await writing.list_all(
                app.conn, owner, category=category, status=status, q=q, after=after, limit=rows
            )

        return await read_page(read, writing.MAX_LISTED, key=lambda one: one.slug)

    found = execute(listed)
    print_rows(found.data, _COLUMNS, document=found.map(values.template_of), row=_row)


@template.command(
    epilog=examples("mailqueue template show welcome", "mailqueue template show welcome --json")
)
@click.argument("slug")
@owner_options
@json_option
def show(*, slug: str, project: str | None) -> None:
    """Show a template and its versions; with --json, also their content."""

    async def work(app: Opened) -> tuple[TemplateRow, list[tuple[VersionRow, list[StoredText]]]]:
        found = await template_in(app, project, slug)
        all_ = await versions.list_all(app.conn, found)
        return found, [(one, await versions.texts_of(app.conn, one)) for one in all_]

    found, both = execute(work)

    def as_text() -> None:
        facts(
            (
                ("template", found.slug),
                ("name", found.name),
                ("description", found.description),
                ("category", found.category),
                ("language", found.language),
                ("of", _row(found)["owner"]),
                ("published", found.published),
            )
        )
        click.echo()
        table([one for one, _ in both], _VERSIONS)

    contents = [values.content_of(found, one, texts) for one, texts in both]
    print_result(TemplateVersions(values.template_of(found), contents), as_text)


@template.command(
    epilog=examples(
        "mailqueue template change welcome --name 'Welcome aboard'",
        "mailqueue template change welcome --category marketing",
    )
)
@click.argument("slug")
@owner_options
@click.option("--name", help="Description.")
@click.option("--description", help="Description.")
@click.option("--category", metavar="WORD", help="Category of its emails.")
@click.option("--language", metavar="TAG", help="Default language.")
@json_option
def change(*, slug: str, project: str | None, **fields: str | None) -> None:
    """Change the details of a template. The content of its versions stays."""
    changes = {name: value for name, value in fields.items() if value is not None}
    if not changes:
        raise click.UsageError("give at least one of --name, --description, --category, --language")

    async def work(app: Opened) -> TemplateRow:
        found = await template_in(app, project, slug, to_change=True)
        return await writing.change(app.conn, found, changes=changes, by=operator())

    made = execute(work)
    print_message(values.template_of(made), f"{slug} is changed: {', '.join(sorted(changes))}")


@template.command(epilog=examples("mailqueue template remove welcome"))
@click.argument("slug")
@owner_options
@asks_first("Remove template {slug} with all its versions?")
def remove(*, slug: str, project: str | None) -> None:
    """Remove a template and its versions. Emails already accepted are still rendered."""

    async def work(app: Opened) -> None:
        found = await template_in(app, project, slug, to_change=True)
        await writing.remove(app.conn, found, by=operator())

    execute(work)
    click.echo(f"{slug} is removed")


def _row(one: TemplateRow) -> dict[str, object]:
    return {
        "slug": one.slug,
        "name": one.name,
        "category": one.category,
        "published": one.published,
        "newest": one.newest,
        "owner": "platform" if one.project_id is None else "project",
    }
