"""`mailqueue template version`, `publish` and `archive`: the versions of a template."""

import json
from typing import Any

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_message
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.text_file import text_file_option
from mailqueue.cli.templates.options import compile_process, lending, owner_options, template_in
from mailqueue.core.errors import InvalidField
from mailqueue.templates import previews, values, versions
from mailqueue.templates.model import NewText, NewVersion, VersionRow

number_option = click.option(
    "--version", "number", type=click.IntRange(1), metavar="N", help="Version number."
)
_KEYS = frozenset({"subject", "html_body", "text_body"})


@click.command(
    epilog=examples(
        "mailqueue template version welcome --subject 'Hi {{ name }}' --html-file hi.html",
        "mailqueue template version welcome --subject Hi --text 'Hello {{ name }}' --publish",
        "mailqueue template version news --subject News --html-file n.html --inline-css"
        " --translation de=german.json",
    )
)
@click.argument("slug")
@owner_options
@click.option("--subject", required=True, help="Subject, as Jinja2.")
@text_file_option(
    "--html-file", "html", text="File of the HTML body, as Jinja2; - is standard input."
)
@text_file_option(
    "--text-file", text="File of the text body, as Jinja2.  [default: derived from the HTML]"
)
@click.option("--text", help="Text body, as Jinja2.")
@text_file_option("--schema-file", "schema", text="File with the JSON Schema of the variables.")
@click.option(
    "--translation",
    "translations",
    multiple=True,
    metavar="TAG=FILE.json",
    callback=lambda _ctx, _param, texts: dict(_translation(one) for one in texts),
    help="Translation: a JSON object with subject, html_body, text_body. May be repeated.",
)
@click.option(
    "--inline-css", is_flag=True, help="Inline the CSS into the HTML elements when published."
)
@click.option("--note", help="Note, such as the reason for the change.")
@click.option("--publish", "is_published", is_flag=True, help="Publish it at once.")
@json_option
def version(
    *,
    slug: str,
    project: str | None,
    subject: str,
    html: str | None,
    text_file: str | None,
    text: str | None,
    schema: str | None,
    translations: dict[str, NewText],
    inline_css: bool,
    note: str | None,
    is_published: bool,
) -> None:
    """Create the next version of a template, as a draft. Its content is immutable."""
    if text is not None and text_file is not None:
        raise click.UsageError("give --text or --text-file, not both")
    words = {"": NewText(subject, html, text if text is not None else text_file)}
    new = NewVersion(words | translations, _schema(schema), inline_css, note)

    async def work(app: Opened) -> VersionRow:
        async with compile_process() as inside:
            found = await template_in(app, project, slug, to_change=True)
            made = await versions.add(lending(app), inside, found, new=new, by=operator())
            if is_published:
                made = await versions.publish(lending(app), inside, found, made, by=operator())
            return made

    _print(execute(work), slug)


@click.command(
    epilog=examples(
        "mailqueue template publish welcome", "mailqueue template publish welcome --version 3"
    )
)
@click.argument("slug")
@owner_options
@number_option
@json_option
def publish(*, slug: str, project: str | None, number: int | None) -> None:
    """Publish a version, by default the newest, so that emails use it."""

    async def work(app: Opened) -> VersionRow:
        async with compile_process() as inside:
            found = await template_in(app, project, slug, to_change=True)
            chosen = await versions.find(app.conn, found, number=number or found.newest)
            return await versions.publish(lending(app), inside, found, chosen, by=operator())

    _print(execute(work), slug)


@click.command(epilog=examples("mailqueue template archive welcome --version 2"))
@click.argument("slug")
@owner_options
@number_option
@json_option
def archive(*, slug: str, project: str | None, number: int | None) -> None:
    """Archive a version, by default the published one."""

    async def work(app: Opened) -> VersionRow:
        found = await template_in(app, project, slug, to_change=True)
        chosen = (
            await previews.usual(app.conn, found)
            if number is None
            else await versions.find(app.conn, found, number=number)
        )
        return await versions.archive(app.conn, found, chosen, by=operator())

    _print(execute(work), slug)


def _print(one: VersionRow, slug: str) -> None:
    print_message(values.version_of(one), f"{slug}@{one.version} is {one.status}")


def _schema(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise InvalidField("variables_schema", f"this is not JSON: {exc}") from None
    if not isinstance(found, dict):
        raise InvalidField("variables_schema", "must be a JSON object")
    return found


def _translation(text: str) -> tuple[str, NewText]:
    tag, equals, path = text.partition("=")
    if not equals or not tag:
        raise click.BadParameter(f"must be TAG=FILE.json, got {text!r}")
    try:
        with open(path, encoding="utf-8") as file:
            said = json.load(file)
    except (OSError, ValueError) as exc:
        raise click.BadParameter(f"{path}: {exc}") from None
    is_words = isinstance(said, dict) and set(said) <= _KEYS and "subject" in said
    if not is_words or not all(isinstance(one, str | None) for one in said.values()):
        raise click.BadParameter(
            f"{path}: must be a JSON object with subject, html_body, text_body"
        )
    words = NewText(said["subject"], said.get("html_body"), said.get("text_body"))
    return tag.lower().replace("_", "-"), words
