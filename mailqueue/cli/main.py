"""The command `mailqueue`: which commands there are, and what an error looks like."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TextIO

import click

from mailqueue.core.errors import ConfigError, MailqueueError, Unavailable

EXIT_FAULT = 1  # the request cannot be met as it is; 2 is click's own for wrong usage
EXIT_UNAVAILABLE = 3  # something we need is away: trying again later may help
EXIT_CONFIG = 4  # a setting is missing or faulty


@dataclass(frozen=True, slots=True)
class Lazy:
    """Where a command stands, and the line that `--help` shows without importing it."""

    target: str
    summary: str


# In the order a newcomer meets them.
COMMANDS: Mapping[str, Lazy] = {
    "up": Lazy("mailqueue.cli.up:up", "Run everything: PostgreSQL, API, workers, mail trap."),
    "status": Lazy("mailqueue.cli.status:status", "Show what waits, what runs, what was sent."),
    "why": Lazy("mailqueue.cli.why:why", "Say why an email has not been sent."),
    "send": Lazy("mailqueue.cli.send:send", "Queue one email."),
    "enqueue": Lazy("mailqueue.cli.enqueue:enqueue", "Queue an email for each line of a file."),
    "sender": Lazy("mailqueue.cli.sender:sender", "Add, change and try sender accounts."),
    "trap": Lazy("mailqueue.cli.trap:trap", "Look at mail the built-in trap has caught."),
    "doctor": Lazy("mailqueue.cli.doctor:doctor", "Check the set-up and name each fix."),
    "verify": Lazy("mailqueue.cli.verify:verify", "Check that no accepted email is unaccounted."),
    "migrate": Lazy("mailqueue.cli.migrate:migrate", "Bring the database schema up to date."),
    "psql": Lazy("mailqueue.cli.psql:psql", "Open psql on mailqueue's database."),
    "api": Lazy("mailqueue.cli.api:api", "Run the HTTP API alone."),
    "worker": Lazy("mailqueue.cli.worker:worker", "Run workers alone."),
}


class Fault(click.ClickException):
    """An error of ours as the command line shows it: one line on standard error."""

    def __init__(self, error: MailqueueError) -> None:
        super().__init__(" ".join(str(error).split()))
        self.exit_code = exit_code_for(error)

    def show(self, file: TextIO | Any = None) -> None:
        click.echo(f"error: {self.format_message()}", file=file, err=file is None)


def exit_code_for(error: MailqueueError) -> int:
    """Say with which code the command ends."""
    if isinstance(error, Unavailable):
        return EXIT_UNAVAILABLE
    if isinstance(error, ConfigError):
        return EXIT_CONFIG
    return EXIT_FAULT


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used."""

    def __init__(self, *, lazy: Mapping[str, Lazy], **attrs: Any) -> None:
        super().__init__(**attrs)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        lazy = self.lazy.get(cmd_name)
        return None if lazy is None else load(lazy)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.summary) for name, lazy in self.lazy.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        names = [name for name in self.lazy if name.startswith(incomplete)]
        return [
            *(CompletionItem(name, help=self.lazy[name].summary) for name in names),
            *click.Command.shell_complete(self, ctx, incomplete),
        ]

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except MailqueueError as exc:
            raise Fault(exc) from exc
