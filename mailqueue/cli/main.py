"""The command `mailqueue`: which commands there are, and what an error looks like."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click
from click.shell_completion import CompletionItem

import mailqueue
from mailqueue.cli.support.groups import CommandGroup, data_option, project_option
from mailqueue.core.errors import ConfigError, MailqueueError, Unavailable

VERSION = mailqueue.__version__

EXIT_FAULT = 1  # the request cannot be met as it is; 2 is click's own for wrong usage
EXIT_UNAVAILABLE = 3  # something we need is away: trying again later may help
EXIT_CONFIG = 4  # a setting is missing or faulty


@dataclass(frozen=True, slots=True)
class Lazy:
    """The import path of a command, and its line in `--help`, shown without importing it."""

    target: str
    summary: str


# As `--help` shows them.
SECTIONS: Mapping[str, Mapping[str, Lazy]] = {
    "Run": {
        "up": Lazy("mailqueue.cli.up:up", "Run PostgreSQL, API, console, workers and mail trap."),
        "api": Lazy("mailqueue.cli.api:api", "Run only the HTTP API."),
        "console": Lazy("mailqueue.cli.console:console", "Run only the web console."),
        "worker": Lazy("mailqueue.cli.worker.commands:worker", "Run only the workers."),
        "migrate": Lazy("mailqueue.cli.migrate:migrate", "Bring the database schema up to date."),
        "psql": Lazy("mailqueue.cli.psql:psql", "Open psql on mailqueue's database."),
    },
    "Send": {
        "send": Lazy("mailqueue.cli.sending.send:send", "Queue one email."),
        "enqueue": Lazy(
            "mailqueue.cli.sending.enqueue.commands:enqueue",
            "Queue an email for each line of a file.",
        ),
        "template": Lazy(
            "mailqueue.cli.templates.commands:template",
            "Write, preview and publish email templates.",
        ),
        "sender": Lazy(
            "mailqueue.cli.senders.commands:sender", "Add, change and test sender accounts."
        ),
        "route": Lazy(
            "mailqueue.cli.senders.route:route",
            "Route emails to accounts by category, tag or domain.",
        ),
    },
    "Follow emails": {
        "status": Lazy(
            "mailqueue.cli.status.commands:status",
            "Show queued and sent emails, accounts and workers.",
        ),
        "why": Lazy("mailqueue.cli.emails.why:why", "Explain why an email or other work waits."),
        "email": Lazy(
            "mailqueue.cli.emails.commands:email", "Find, show, cancel, hold and resend emails."
        ),
        "event": Lazy(
            "mailqueue.cli.events.commands:event",
            "Show deliveries, bounces, complaints, opens and clicks.",
        ),
        "queue": Lazy(
            "mailqueue.cli.queues.commands:queue",
            "Show and requeue rows of the queues besides mail.",
        ),
        "resolve": Lazy(
            "mailqueue.cli.emails.resolve:resolve",
            "Decide whether emails with unknown outcome were sent.",
        ),
        "pause": Lazy(
            "mailqueue.cli.emails.pause:pause", "Pause a project, account, campaign or domain."
        ),
        "resume": Lazy("mailqueue.cli.emails.pause:resume", "End a pause."),
        "pauses": Lazy("mailqueue.cli.emails.pause:pauses", "List pauses, with end and reason."),
        "trap": Lazy(
            "mailqueue.cli.trap.commands:trap", "Show emails caught by the built-in mail trap."
        ),
    },
    "Recipients": {
        "suppression": Lazy(
            "mailqueue.cli.suppression.commands:suppression",
            "Manage the list of suppressed addresses.",
        ),
        "category": Lazy(
            "mailqueue.cli.suppression.categories:category",
            "Manage the email categories recipients can opt out of.",
        ),
        "export-person": Lazy(
            "mailqueue.cli.privacy.export:export", "Print all data stored about a person."
        ),
        "erase": Lazy("mailqueue.cli.privacy.erase:erase", "Erase all data stored about a person."),
    },
    "Projects and access": {
        "project": Lazy(
            "mailqueue.cli.projects.commands:project", "Create and configure projects."
        ),
        "key": Lazy("mailqueue.cli.projects.key:key", "Create, rotate and revoke API keys."),
        "producer": Lazy(
            "mailqueue.cli.producers.commands:producer", "Bind database logins to projects."
        ),
        "user": Lazy("mailqueue.cli.users.commands:user", "Manage who logs in to the console."),
        "admin": Lazy(
            "mailqueue.cli.admin.commands:admin", "Manage administrators of the HTTP API."
        ),
        "platform": Lazy(
            "mailqueue.cli.admin.platform:platform",
            "Change settings, flags and keys of the installation.",
        ),
    },
    "Domains and webhooks": {
        "domain": Lazy(
            "mailqueue.cli.domains.commands:domain", "Limit the sending rate to recipient domains."
        ),
        "dkim": Lazy(
            "mailqueue.cli.domains.dkim.commands:dkim", "Manage DKIM keys and check a domain's DNS."
        ),
        "tracking": Lazy(
            "mailqueue.cli.domains.tracking:tracking",
            "Check tracking domains and rotate tracking keys.",
        ),
        "webhook": Lazy(
            "mailqueue.cli.webhooks.commands:webhook",
            "Manage webhooks that send events to applications.",
        ),
    },
    "Check and maintain": {
        "doctor": Lazy(
            "mailqueue.cli.status.doctor:doctor", "Check the installation and suggest fixes."
        ),
        "verify": Lazy(
            "mailqueue.cli.status.verify:verify",
            "Check that emails and the audit log are complete.",
        ),
        "maintain": Lazy(
            "mailqueue.cli.maintenance.maintain:maintain",
            "Run maintenance: partitions, retention, archive.",
        ),
        "archive": Lazy(
            "mailqueue.cli.maintenance.archive:archive",
            "List, verify, read and restore archived records.",
        ),
        "restored": Lazy(
            "mailqueue.cli.maintenance.restored:restored",
            "Hold emails that may have been sent since a backup.",
        ),
        "vault": Lazy(
            "mailqueue.cli.vault.commands:vault",
            "Rotate encryption keys; manage customer-held keys.",
        ),
        "bench": Lazy(
            "mailqueue.cli.bench.commands:bench",
            "Measure how fast this database accepts and sends.",
        ),
    },
    "Shell": {
        "completion": Lazy(
            "mailqueue.cli.completion:completion", "Print the completion script of a shell."
        ),
    },
}
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
    command = getattr(importlib.import_module(module), attribute)
    if not isinstance(command, click.Command):
        raise TypeError(f"{lazy.target} is not a click command")
    return command


main = LazyGroup(
    name="mailqueue",
    sections=SECTIONS,
    params=[data_option(), project_option()],
    help="The email platform that lives in your own PostgreSQL.",
    epilog="Run `mailqueue COMMAND --help` for the options and examples of a command.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
click.version_option(VERSION, prog_name="mailqueue", message="%(prog)s %(version)s")(main)
