"""`mailqueue template preview`, `diff` and `clone`: preview, compare and copy versions."""

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_message, print_result
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import examples, facts, paint
from mailqueue.cli.templates.options import (
    compile_process,
    language_option,
    lending,
    owner_of,
    owner_options,
    template_in,
    variables_options,
)
from mailqueue.cli.templates.version import number_option
from mailqueue.contract.templates import Preview, TemplateDiff
from mailqueue.templates import cloning, previews, values, versions
from mailqueue.templates.model import TemplateRow

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(
    epilog=examples(
        "mailqueue template preview welcome --var name=Ann",
        "mailqueue template preview welcome --version 3 --vars '{\"items\": [1, 2]}' --html",
    )
)
@click.argument("slug")
@owner_options
@number_option
@language_option
@variables_options
@click.option("--html", "wants_html", is_flag=True, help="Print only the HTML.")
@json_option
def preview(
    *,
    slug: str,
    project: str | None,
    number: int | None,
    language: str | None,
    variables: dict[str, object] | None = None,
    wants_html: bool,
) -> None:
    """Render the published version, or the newest, with sample data; print warnings."""

    async def work(app: Opened) -> Preview:
        async with compile_process() as inside:
            found = await template_in(app, project, slug)
            chosen = (
                await previews.usual(app.conn, found)
                if number is None
                else await versions.find(app.conn, found, number=number)
            )
            words = await previews.words_of(app.conn, found, chosen, language)
            return await previews.preview(inside, found, chosen, words, variables=variables or {})

    made = execute(work)

    def as_text() -> None:
        if wants_html:
            click.echo(made.html_body or "")
        else:
            facts(
                (
                    ("version", f"{made.version} ({made.language})"),
                    ("subject", made.subject),
                    ("size", f"{made.size_bytes} bytes"),
                )
            )
            click.echo(f"\n{made.text_body}")
        for warning in made.warnings:
            click.echo(f"warning: {warning}", err=True)

    print_result(made, as_text)


@click.command(
    epilog=examples(
        "mailqueue template diff welcome 2 3", "mailqueue template diff welcome 2 3 --language de"
    )
)
@click.argument("slug")
@click.argument("old", type=click.IntRange(1))
@click.argument("new", type=click.IntRange(1))
@owner_options
@language_option
@json_option
def diff(
    *,
    slug: str,
    old: int,
    new: int,
    project: str | None,
    language: str | None,
) -> None:
    """Show the differences between versions OLD and NEW."""

    async def work(app: Opened) -> str:
        found = await template_in(app, project, slug)
        before = await versions.find(app.conn, found, number=old)
        after = await versions.find(app.conn, found, number=new)
        async with compile_process() as inside:
            return await previews.diff(
                lending(app), inside, found, before, after, language=language
            )

    lines = execute(work)

    def as_text() -> None:
        for line in lines.splitlines():
            shown = "".join(char if char.isprintable() or char == "\t" else "?" for char in line)
            click.echo(paint(shown, colour=_COLOURS.get(line[:1])))

    print_result(TemplateDiff(lines), as_text)


@click.command(
    epilog=examples(
        "mailqueue template clone welcome --as welcome-2",
        "mailqueue template clone welcome --to shop",
        "mailqueue template clone otp --to shop --as code",
    )
)
@click.argument("slug")
@owner_options
@click.option("--to", metavar="PROJECT", help="Project of the copy.  [default: --project]")
@click.option("--as", "new_slug", metavar="SLUG", help="Slug of the copy.")
@json_option
def clone(*, slug: str, project: str | None, to: str | None, new_slug: str | None) -> None:
    """Copy a template with its published version, which becomes version 1 of the copy."""

    async def work(app: Opened) -> TemplateRow:
        found = await template_in(app, project, slug)
        owner = await owner_of(app, to or project)
        return await cloning.clone(app.conn, found, to=owner, slug=new_slug, by=operator())

    made = execute(work)
    print_message(
        values.template_of(made), f"{made.slug} is created as a copy of {slug}, and published"
    )
