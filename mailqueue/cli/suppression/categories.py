"""`mailqueue category`: the email categories shown in the preference centre."""

from dataclasses import asdict

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_rows
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, Command, examples, show
from mailqueue.contract.suppression import Categories, Category, CategoryText
from mailqueue.suppression.subscriptions import categories

_COLUMNS = (
    Column("slug", "CATEGORY"),
    Column("name", "NAME"),
    Column("is_required", "REQUIRED"),
    Column("place", "PLACE", numeric=True),
    Column("languages", "LANGUAGES"),
    Column("description", "DESCRIPTION"),
)
_project = click.option(
    "--project", default="default", show_default=True, help="Project of the category."
)


def _words(command: Command) -> Command:
    """Add options that describe a category."""
    for add in (
        click.option("--place", type=int, help="Position; lower is shown first.  [default: 100]"),
        click.option(
            "--required/--optional",
            "is_required",
            default=None,
            help="Whether recipients can unsubscribe from it.  [default: optional]",
        ),
        click.option(
            "--translation",
            "translations",
            metavar="LANG=NAME[|DESCRIPTION]",
            multiple=True,
            help="Name in another language; may be repeated.",
        ),
        click.option("--description", help="Description in one sentence."),
    ):
        command = add(command)
    return command


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue category add product-updates --name 'Product updates'",
        "mailqueue category list",
    ),
)
def category() -> None:
    """Manage the email categories that recipients can stop or pause themselves."""


@category.command(
    epilog=examples(
        "mailqueue category add product-updates --name 'Product updates'"
        " --translation 'de=Neues vom Produkt'",
        "mailqueue category add receipts --name Receipts --required --place 500",
    )
)
@click.argument("slug", metavar="CATEGORY")
@click.option("--name", required=True, help="Name shown to recipients.")
@_words
@_project
@json_option
def add(
    *,
    slug: str,
    name: str,
    description: str | None,
    translations: tuple[str, ...],
    is_required: bool | None,
    place: int | None,
    project: str,
) -> None:
    """Add CATEGORY to the preference centre. Emails refer to it by its slug."""
    given = _given(name, description, translations, is_required=is_required, place=place)
    added = execute(
        lambda app: categories.add(app.conn, project, slug=slug, fields=given, by=operator())
    )
    print_rows([added], _COLUMNS, document=added, row=_row)


@category.command(
    epilog=examples(
        "mailqueue category change product-updates --place 1",
        "mailqueue category change product-updates --translation 'fr=Nouveautés'",
    )
)
@click.argument("slug", metavar="CATEGORY")
@click.option("--name", help="Name shown to recipients.")
@_words
@_project
@json_option
def change(
    *,
    slug: str,
    name: str | None,
    description: str | None,
    translations: tuple[str, ...],
    is_required: bool | None,
    place: int | None,
    project: str,
) -> None:
    """Change settings of CATEGORY. Translations that are not given stay."""
    given = _given(name, description, translations, is_required=is_required, place=place)

    async def changed(app: Opened) -> Category:
        async with app.conn.transaction():
            if "translations" in given:
                before = await categories.get(app.conn, project, slug=slug)
                known = {tag: _given_text(text) for tag, text in before.translations.items()}
                given["translations"] = known | _read(translations)
            return await categories.change(
                app.conn, project, slug=slug, fields=given, by=operator()
            )

    found = execute(changed)
    print_rows([found], _COLUMNS, document=found, row=_row)


@category.command("list", epilog=examples("mailqueue category list --project shop --json"))
@_project
@json_option
def list_(*, project: str) -> None:
    """List categories in the order in which recipients see them."""
    found = execute(lambda app: categories.list_(app.conn, project))
    print_rows(found, _COLUMNS, document=Categories(found), row=_row)


@category.command(epilog=examples("mailqueue category remove product-updates"))
@click.argument("slug", metavar="CATEGORY")
@_project
@asks_first("Remove category {slug} of project {project}?")
def remove(*, slug: str, project: str) -> None:
    """Remove CATEGORY from the preference centre. Unsubscribed recipients stay unsubscribed."""
    execute(lambda app: categories.remove(app.conn, project, slug=slug, by=operator()))
    click.echo(f"{show(slug)} is removed from the preference centre")


def _given(
    name: str | None,
    description: str | None,
    translations: tuple[str, ...],
    *,
    is_required: bool | None,
    place: int | None,
) -> dict[str, object]:
    said = {
        "name": name,
        "description": description,
        "is_required": is_required,
        "place": place,
        "translations": _read(translations) or None,
    }
    return {field: value for field, value in said.items() if value is not None}


def _read(translations: tuple[str, ...]) -> dict[str, dict[str, str]]:
    found = {}
    for one in translations:
        tag, _, words = one.partition("=")
        name, _, description = words.partition("|")
        texts = {"name": name.strip(), "description": description.strip()}
        found[tag.strip()] = {field: text for field, text in texts.items() if text}
    return found


def _given_text(text: CategoryText) -> dict[str, str]:
    return {field: words for field, words in asdict(text).items() if words}


def _row(one: Category) -> dict[str, object]:
    return {
        "slug": one.slug,
        "name": one.name,
        "is_required": one.is_required,
        "place": one.place,
        "languages": ", ".join(sorted(one.translations)),
        "description": one.description,
    }
