"""The command `mailqueue`: which commands there are, and what an error looks like."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

import mailqueue
from mailqueue.core.errors import ConfigError, MailqueueError, Unavailable

VERSION = mailqueue.__version__

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
    "status": Lazy(
        "mailqueue.cli.status.commands:status", "Show what waits, what runs, what was sent."
    ),
    "why": Lazy("mailqueue.cli.emails.why:why", "Say why an email has not been sent."),
    "email": Lazy(
        "mailqueue.cli.emails.commands:email", "Show emails; cancel, hold, resend or move them."
    ),
    "resolve": Lazy(
        "mailqueue.cli.emails.resolve:resolve", "Say whether emails in doubt were sent."
    ),
    "pause": Lazy("mailqueue.cli.emails.pause:pause", "Let a project, campaign or domain wait."),
    "resume": Lazy("mailqueue.cli.emails.pause:resume", "End a pause."),
    "pauses": Lazy("mailqueue.cli.emails.pause:pauses", "List what is paused, until when and why."),
    "send": Lazy("mailqueue.cli.sending.send:send", "Queue one email."),
    "enqueue": Lazy(
        "mailqueue.cli.sending.enqueue.commands:enqueue", "Queue an email for each line of a file."
    ),
    "sender": Lazy("mailqueue.cli.senders.commands:sender", "Add, change and try sender accounts."),
    "route": Lazy(
        "mailqueue.cli.senders.route:route", "Choose accounts by category, tag or domain."
    ),
    "project": Lazy(
        "mailqueue.cli.projects.commands:project", "Make projects; choose senders and retries."
    ),
    "template": Lazy(
        "mailqueue.cli.templates.commands:template", "Write, try and publish what mail says."
    ),
    "suppression": Lazy(
        "mailqueue.cli.suppression.commands:suppression", "Say who is not written to."
    ),
    "category": Lazy(
        "mailqueue.cli.suppression.categories:category", "Name the mail that people may stop."
    ),
    "erase": Lazy("mailqueue.cli.privacy.erase:erase", "Forget all that is stored about a person."),
    "export-person": Lazy(
        "mailqueue.cli.privacy.export:export", "Print all that is stored about a person."
    ),
    "event": Lazy(
        "mailqueue.cli.events.commands:event", "Show what came back about mail that left."
    ),
    "webhook": Lazy(
        "mailqueue.cli.webhooks.commands:webhook", "Tell applications what happens to mail."
    ),
    "key": Lazy("mailqueue.cli.projects.key:key", "Make, replace and revoke keys of the HTTP API."),
    "admin": Lazy(
        "mailqueue.cli.admin.commands:admin", "Let people administer everything over HTTP."
    ),
    "platform": Lazy(
        "mailqueue.cli.admin.platform:platform", "Change what holds for all projects."
    ),
    "domain": Lazy("mailqueue.cli.domains.commands:domain", "Hold recipient domains to a rate."),
    "tracking": Lazy(
        "mailqueue.cli.domains.tracking:tracking",
        "Check domains of links in mail; replace their keys.",
    ),
    "dkim": Lazy(
        "mailqueue.cli.domains.dkim.commands:dkim", "Sign a domain's mail and check its DNS."
    ),
    "vault": Lazy(
        "mailqueue.cli.vault.commands:vault", "Rotate the keys that seal secrets, or keep them."
    ),
    "trap": Lazy("mailqueue.cli.trap.commands:trap", "Look at mail the built-in trap has caught."),
    "doctor": Lazy("mailqueue.cli.status.doctor:doctor", "Check the set-up and name each fix."),
    "verify": Lazy(
        "mailqueue.cli.status.verify:verify", "Check that no accepted email is unaccounted."
    ),
    "restored": Lazy(
        "mailqueue.cli.maintenance.restored:restored", "After a restore, hold mail in doubt."
    ),
    "bench": Lazy(
        "mailqueue.cli.bench.commands:bench", "Measure accepting and sending, and what bounds it."
    ),
    "maintain": Lazy(
        "mailqueue.cli.maintenance.maintain:maintain", "Do what keeps the database well."
    ),
    "archive": Lazy(
        "mailqueue.cli.maintenance.archive:archive", "Look at files of old records, restore them."
    ),
    "migrate": Lazy("mailqueue.cli.migrate:migrate", "Bring the database schema up to date."),
    "psql": Lazy("mailqueue.cli.psql:psql", "Open psql on mailqueue's database."),
    "api": Lazy("mailqueue.cli.api:api", "Run the HTTP API alone."),
    "worker": Lazy("mailqueue.cli.worker.commands:worker", "Run workers alone."),
}


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

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        lazy = self.lazy.get(cmd_name)
        return None if lazy is None else load(lazy)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.summary) for name, lazy in self.lazy.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; each line of an error of ours goes to standard error."""
        try:
            return super().invoke(ctx)
        except MailqueueError as exc:
            for line in str(exc).splitlines():
                click.echo(f"error: {line}", err=True)
            ctx.exit(exit_code_for(exc))


def load(lazy: Lazy) -> click.Command:
    """Import the module a command stands in and return the command."""
    module, _, attribute = lazy.target.partition(":")
    command = getattr(importlib.import_module(module), attribute)
    if not isinstance(command, click.Command):
        raise TypeError(f"{lazy.target} is no command")
    return command


main = LazyGroup(
    name="mailqueue",
    lazy=COMMANDS,
    help="The email platform that lives in your own PostgreSQL.",
    epilog="Run `mailqueue COMMAND --help` for a command's options and examples.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
click.version_option(VERSION, prog_name="mailqueue", message="%(prog)s %(version)s")(main)
