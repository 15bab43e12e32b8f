"""What the commands about templates share: whose template it is, and how it is found."""

import functools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar
from uuid import UUID

import click

from mailqueue.cli.support.app import Opened
from mailqueue.db.fetch import Conn
from mailqueue.rendering.process.host import Chamber
from mailqueue.templates import writing
from mailqueue.templates.model import TemplateRow

Command = TypeVar("Command", bound=Callable[..., Any])


def owner_options(command: Command) -> Command:
    """Add `--project` and `--platform`; the command gets `project`, None for the platform."""

    def chosen(ctx: click.Context, _param: click.Parameter, given: bool) -> bool:
        if given:
            ctx.params["project"] = None
        return given

    platform = click.option(
        "--platform",
        is_flag=True,
        expose_value=False,
        callback=chosen,
        help="The platform's: for all projects that have none of that name.",
    )
    project = click.option(
        "--project",
        default="default",
        show_default=True,
        is_eager=True,
        help="The project it is of.",
    )
    return project(platform(command))


def language_option(command: Command) -> Command:
    """Add `--language`."""
    add = click.option("--language", metavar="TAG", help="Like de or pt-br.")
    return add(command)


def variables_options(command: Command) -> Command:
    """Add `--var` and `--vars`; the command gets `variables`, None where none was given."""

    def named(ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> None:
        for text in given:
            name, equals, value = text.partition("=")
            if not equals or not name:
                raise click.BadParameter(f"write NAME=VALUE, got {text!r}")
            _variables(ctx)[name] = value

    def whole(ctx: click.Context, _param: click.Parameter, given: str | None) -> None:
        if given is None:
            return
        try:
            found = json.loads(given)
        except (ValueError, RecursionError) as exc:
            raise click.BadParameter(f"this is not JSON: {exc}") from None
        if not isinstance(found, dict):
            raise click.BadParameter("an object of names and values is needed")
        ctx.params["variables"] = found | (_variables(ctx))

    one = click.option(
        "--var",
        multiple=True,
        metavar="NAME=VALUE",
        expose_value=False,
        callback=named,
        help="A variable of the template, as text; may be repeated.",
    )
    all_ = click.option(
        "--vars",
        metavar="JSON",
        expose_value=False,
        callback=whole,
        help="Variables of the template, as an object.",
    )
    return one(all_(command))


def template_options(command: Command) -> Command:
    """Add what names a template and its variables; the command gets `template`, options or {}."""

    @functools.wraps(command)
    def packed(*args: Any, template: str | None, language: str | None, **given: Any) -> Any:
        variables = given.pop("variables", None)
        if template is None and (language is not None or variables is not None):
            raise click.UsageError("--var, --vars and --language have a meaning with --template")
        said = {"template": template, "language": language, "variables": variables}
        named = {name: value for name, value in said.items() if value is not None}
        return command(*args, template=named, **given)

    add = click.option("--template", metavar="SLUG", help="What it says; SLUG@3 is version 3.")
    return add(language_option(variables_options(packed)))  # type: ignore[return-value]


def _variables(ctx: click.Context) -> dict[str, object]:
    found: dict[str, object] = ctx.params.setdefault("variables", {})
    return found


async def owner_of(app: Opened, project: str | None) -> UUID | None:
    """Return the id of a project; None for the platform."""
    return None if project is None else await writing.project_of(app.conn, project)


async def found_in(
    app: Opened, project: str | None, slug: str, *, to_change: bool = False
) -> TemplateRow:
    """Find a template by its slug.

    Raises:
        NotFound: there is none, or it is the platform's and to be changed.
    """
    find = writing.find_own if to_change else writing.find
    return await find(app.conn, await owner_of(app, project), slug=slug)


def lending(app: Opened) -> Callable[[], AbstractAsyncContextManager[Conn]]:
    """Yield what lends the command's connection."""

    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        yield app.conn

    return lend


@asynccontextmanager
async def chamber() -> AsyncIterator[Chamber]:
    """Open the chamber in which templates are compiled and tried."""
    opened = Chamber()
    try:
        yield opened
    finally:
        await opened.close()
