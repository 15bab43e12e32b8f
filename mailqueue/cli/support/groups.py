"""Command groups: suggestions for misspelt commands, old names, options of all commands."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

_DATA, _PROJECT = "mailqueue.data", "mailqueue.project"
_PROJECT_FLAG = "--project"
MAX_SUGGESTIONS = 3
"""Names that an error about an unknown command suggests."""
MIN_SIMILARITY = 0.7
"""Share of common characters, 0 to 1, from which a name is suggested."""


class CommandGroup(click.Group):
    """A group whose commands take `--data`, and `--project` where they are about a project.

    `old_names` are names that commands had; they work and are shown nowhere.
    """

    def __init__(self, *, old_names: Mapping[str, str] | None = None, **attrs: Any) -> None:
        super().__init__(**attrs)
        self.old_names = dict(old_names or {})

    def find_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return the command of this name; None if there is none."""
        return super().get_command(ctx, name)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name, old names included, with the options all commands have."""
        found = self.find_command(ctx, self.old_names.get(cmd_name, cmd_name))
        if found is not None and not isinstance(found, click.Group):
            _add_common_options(found)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return name, command and its arguments; suggest names for one there is not."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            if ctx.resilient_parsing:
                return None, None, args[1:]
            raise click.UsageError(_unknown(name, self._known_names(ctx)), ctx)
        _, command, rest = super().resolve_command(ctx, args)
        if command is not None and takes_project_first(command):
            rest = _project_first(ctx, rest)
        elif command is not None and not isinstance(command, click.Group):
            _refuse_project(ctx, command)
        return self.old_names.get(name, name), command, rest

    def _known_names(self, ctx: click.Context) -> list[str]:
        return [*self.list_commands(ctx), *self.old_names]


def data_option() -> click.Option:
    """Return the option `--data`; `command_settings` reads its value."""
    return click.Option(
        ["--data"],
        type=click.Path(path_type=Path, file_okay=False),
        metavar="FOLDER",
        expose_value=False,
        callback=_remember(_DATA),
        help="Data folder of `mailqueue up`.  [MAILQUEUE_DATA]",
    )


def project_option() -> click.Option:
    """Return the option `--project` of the whole command line, for commands that take it."""
    return click.Option(
        [_PROJECT_FLAG],
        metavar="NAME",
        expose_value=False,
        callback=_remember(_PROJECT),
        help="Project of the command that follows.",
    )


def given_data() -> Path | None:
    """Return the data folder that the running command was given by `--data`."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(_DATA)


def takes_project_first(command: click.Command) -> bool:
    """Return whether the first argument of a command is a project."""
    first = next((one for one in command.params if isinstance(one, click.Argument)), None)
    return first is not None and "PROJECT" in (first.metavar, (first.name or "").upper())


def _unknown(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name.lower(), list(known), n=MAX_SUGGESTIONS, cutoff=MIN_SIMILARITY)
    if not close:
        return f"there is no command {name!r}"
    return f"there is no command {name!r}; did you mean {' or '.join(close)}?"


def _remember(key: str) -> Any:
    def remember(context: click.Context, _: click.Parameter, value: object) -> None:
        if value is not None:
            context.meta[key] = value

    return remember


def _add_common_options(command: click.Command) -> None:
    """Add `--data`, and let `--project` default to that of the whole command line."""
    flags = {flag: one for one in command.params for flag in one.opts}
    if "--data" not in flags:
        command.params.append(data_option())
    project = flags.get(_PROJECT_FLAG)
    if project is None and takes_project_first(command):
        shown = click.Option(
            [_PROJECT_FLAG, "_project_as_option"],
            metavar="NAME",
            expose_value=False,
            help="The argument PROJECT, as an option.",
        )
        command.params.append(shown)
    elif project is not None and project.callback is None:
        project.callback = _or_that_of_the_line


def _or_that_of_the_line(context: click.Context, option: click.Parameter, value: Any) -> Any:
    is_given = context.get_parameter_source(option.name or "") is not ParameterSource.DEFAULT
    return value if is_given else context.meta.get(_PROJECT, value)


def _project_first(context: click.Context, args: list[str]) -> list[str]:
    """Return the arguments of a command with the project named by an option as the first."""
    named, rest = context.meta.get(_PROJECT), list[str]()
    words = iter(args)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word == _PROJECT_FLAG:
            named = next(words, None)
            if named is None:
                rest.append(word)  # click reports the missing value
        elif word.startswith(f"{_PROJECT_FLAG}="):
            named = word.partition("=")[2]
        else:
            rest.append(word)
    return rest if named is None else [named, *rest]


def _refuse_project(context: click.Context, command: click.Command) -> None:
    if _PROJECT in context.meta and not any(_PROJECT_FLAG in one.opts for one in command.params):
        raise click.UsageError(f"`{command.name}` takes no {_PROJECT_FLAG}", context)
