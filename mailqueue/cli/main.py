"""The command `mailqueue`: which commands there are, and what an error looks like."""

from collections.abc import Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem

import mailqueue
from mailqueue.cli import names
from mailqueue.cli.commands import SECTIONS, Lazy
from mailqueue.cli.support.groups import CommandGroup, data_option, project_option
from mailqueue.cli.support.loading import load_module
from mailqueue.core.errors import ConfigError, MailqueueError, Unavailable

VERSION = mailqueue.__version__

EXIT_FAULT = 1  # the request cannot be met as it is; 2 is click's own for wrong usage
EXIT_UNAVAILABLE = 3  # something we need is away: trying again later may help
EXIT_CONFIG = 4  # a setting is missing or faulty


COMMANDS: Mapping[str, Lazy] = {
    name: lazy for commands in SECTIONS.values() for name, lazy in commands.items()
}


def exit_code_for(error: MailqueueError) -> int:
    """Return the exit code for an error."""
    if isinstance(error, Unavailable):
        return EXIT_UNAVAILABLE
    if isinstance(error, ConfigError):
        return EXIT_CONFIG
    return EXIT_FAULT


class LazyGroup(CommandGroup):
    """A command group that imports a command when it is used; `--help` shows it in sections."""

    def __init__(self, *, sections: Mapping[str, Mapping[str, Lazy]], **attrs: Any) -> None:
        super().__init__(**attrs)
        self.sections = sections
        self.lazy = {name: lazy for some in sections.values() for name, lazy in some.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.lazy)

    def find_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        lazy = self.lazy.get(name)
        return None if lazy is None else load(lazy)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        width = max(len(name) for name in self.lazy)
        for title, commands in self.sections.items():
            with formatter.section(title):
                rows = [(name.ljust(width), lazy.summary) for name, lazy in commands.items()]
                formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands that begin with a word, without importing them, and options."""
        commands = [
            CompletionItem(name, help=lazy.summary)
            for name, lazy in self.lazy.items()
            if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Parse the options before the command; report wrong ones as `invoke` does."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as exc:
            _report_usage(exc)
            raise click.exceptions.Exit(exc.exit_code) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; print an error to standard error, each line with the prefix `error:`."""
        try:
            return super().invoke(ctx)
        except click.ClickException as exc:
            _report_usage(exc)
            ctx.exit(exc.exit_code)
        except MailqueueError as exc:
            for line in str(exc).splitlines():
                click.echo(f"error: {line}", err=True)
            ctx.exit(exit_code_for(exc))


def _report_usage(exc: click.ClickException) -> None:
    """Print wrong usage: how the command is used, and what is wrong."""
    if isinstance(exc, click.UsageError) and exc.ctx is not None:
        click.echo(exc.ctx.get_usage(), err=True)
        click.echo(f"Try `{exc.ctx.command_path} --help` for help.\n", err=True)
    click.echo(f"error: {exc.format_message()}", err=True)


def load(lazy: Lazy) -> click.Command:
    """Import the module of a command and return the command."""
    module, _, attribute = lazy.target.partition(":")
    command = getattr(load_module(module), attribute)
    if not isinstance(command, click.Command):
        raise TypeError(f"{lazy.target} is not a click command")
    return command


names.register()
main = LazyGroup(
    name="mailqueue",
    sections=SECTIONS,
    params=[data_option(), project_option()],
    help="The email platform that lives in your own PostgreSQL.",
    epilog="Run `mailqueue COMMAND --help` for the options and examples of a command.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
click.version_option(VERSION, prog_name="mailqueue", message="%(prog)s %(version)s")(main)
