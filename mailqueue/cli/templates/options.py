"""Options shared by the template commands."""

import functools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar
from uuid import UUID

import click

from mailqueue.cli.support.app import Opened
from mailqueue.db.fetch import Conn
from mailqueue.projects.ids import project_id_of
from mailqueue.rendering.process.host import CompileProcess
from mailqueue.templates import writing
from mailqueue.templates.model import TemplateRow

Command = TypeVar("Command", bound=Callable[..., Any])


def owner_options(command: Command) -> Command:
    """Add `--project` and `--platform`; the command receives `project`, None for the platform."""

    def chosen(ctx: click.Context, _param: click.Parameter, is_set: bool) -> bool:
        if is_set:
            ctx.params["project"] = None
        return is_set

    platform = click.option(
        "--platform",
        is_flag=True,
        expose_value=False,
        callback=chosen,
        help="Use the platform's template, shared by projects without one of that name.",
    )
    project = click.option(
        "--project",
        default="default",
        show_default=True,
        is_eager=True,
        help="Project of the template.",
    )
    return project(platform(command))


def language_option(command: Command) -> Command:
    """Add `--language`."""
    add = click.option("--language", metavar="TAG", help="Language, such as de or pt-br.")
    return add(command)


def variables_options(command: Command) -> Command:
    """Add `--var` and `--vars`; the command receives `variables`, None if not given."""

    def named(ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> None:
        for text in texts:
            name, equals, value = text.partition("=")
            if not equals or not name:
                raise click.BadParameter(f"must be NAME=VALUE, got {text!r}")
            _variables(ctx)[name] = value

    def whole(ctx: click.Context, _param: click.Parameter, text: str | None) -> None:
        if text is None:
            return
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as exc:
            raise click.BadParameter(f"this is not JSON: {exc}") from None
        if not isinstance(found, dict):
            raise click.BadParameter("must be a JSON object")
        ctx.params["variables"] = found | (_variables(ctx))

    one = click.option(
        "--var",
        multiple=True,
        metavar="NAME=VALUE",
        expose_value=False,
        callback=named,
        help="Template variable, as text; may be repeated.",
    )
    all_ = click.option(
        "--vars",
        metavar="JSON",
        expose_value=False,
        callback=whole,
        help="Template variables, as a JSON object.",
    )
    return one(all_(command))


def template_options(command: Command) -> Command:
    """Add options for a template and its variables; the command receives `template`, {} if none."""

    @functools.wraps(command)
    def packed(*args: Any, template: str | None, language: str | None, **others: Any) -> Any:
        variables = others.pop("variables", None)
        if template is None and (language is not None or variables is not None):
            raise click.UsageError("--var, --vars and --language need --template")
        said = {"template": template, "language": language, "variables": variables}
        named = {name: value for name, value in said.items() if value is not None}
        return command(*args, template=named, **others)

    add = click.option(
        "--template", metavar="SLUG", help="Template to render; SLUG@3 is version 3."
    )
    return add(language_option(variables_options(packed)))  # type: ignore[return-value]


def _variables(ctx: click.Context) -> dict[str, object]:
    found: dict[str, object] = ctx.params.setdefault("variables", {})
    return found


async def owner_of(app: Opened, project: str | None) -> UUID | None:
    """Return the id of a project; None for the platform."""
    return None if project is None else await project_id_of(app.conn, project)


async def template_in(
    app: Opened, project: str | None, slug: str, *, to_change: bool = False
) -> TemplateRow:
    """Find a template by its slug.

    Raises:
        NotFound: it does not exist, or it belongs to the platform and cannot be changed here.
    """
    find = writing.find_own if to_change else writing.find
    return await find(app.conn, await owner_of(app, project), slug=slug)


def lending(app: Opened) -> Callable[[], AbstractAsyncContextManager[Conn]]:
    """Yield a function that lends the command's connection."""

    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        yield app.conn

    return lend


@asynccontextmanager
async def compile_process() -> AsyncIterator[CompileProcess]:
    """Start the compile process for templates."""
    opened = CompileProcess()
    try:
        yield opened
    finally:
        await opened.close()
