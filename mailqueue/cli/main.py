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
    """The import path of a command, and its line in `--help`, shown without importing it."""

    target: str
    summary: str


# In the order in which a new user needs them.
COMMANDS: Mapping[str, Lazy] = {
    "up": Lazy("mailqueue.cli.up:up", "Run everything: PostgreSQL, API, workers, mail trap."),
    "status": Lazy(
        "mailqueue.cli.status.commands:status", "Show queued and sent emails, accounts and workers."
    ),
    "why": Lazy("mailqueue.cli.emails.why:why", "Explain why an email or other work waits."),
    "email": Lazy(
        "mailqueue.cli.emails.commands:email", "Find, show, cancel, hold and resend emails."
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
    "send": Lazy("mailqueue.cli.sending.send:send", "Queue one email."),
    "enqueue": Lazy(
        "mailqueue.cli.sending.enqueue.commands:enqueue", "Queue an email for each line of a file."
    ),
    "sender": Lazy(
        "mailqueue.cli.senders.commands:sender", "Add, change and test sender accounts."
    ),
    "route": Lazy(
        "mailqueue.cli.senders.route:route", "Route emails to accounts by category, tag or domain."
    ),
    "project": Lazy("mailqueue.cli.projects.commands:project", "Create and configure projects."),
    "producer": Lazy(
        "mailqueue.cli.producers.commands:producer", "Bind database logins to projects."
    ),
    "template": Lazy(
        "mailqueue.cli.templates.commands:template", "Write, preview and publish email templates."
    ),
    "suppression": Lazy(
        "mailqueue.cli.suppression.commands:suppression", "Manage the list of suppressed addresses."
    ),
    "category": Lazy(
        "mailqueue.cli.suppression.categories:category",
        "Manage the email categories recipients can opt out of.",
    ),
    "erase": Lazy("mailqueue.cli.privacy.erase:erase", "Erase all data stored about a person."),
    "export-person": Lazy(
        "mailqueue.cli.privacy.export:export", "Print all data stored about a person."
    ),
    "event": Lazy(
        "mailqueue.cli.events.commands:event",
        "Show deliveries, bounces, complaints, opens and clicks.",
    ),
    "queue": Lazy(
        "mailqueue.cli.queues.commands:queue", "Show and requeue rows of the queues besides mail."
    ),
    "webhook": Lazy(
        "mailqueue.cli.webhooks.commands:webhook",
        "Manage webhooks that send events to applications.",
    ),
    "key": Lazy("mailqueue.cli.projects.key:key", "Create, rotate and revoke API keys."),
    "admin": Lazy("mailqueue.cli.admin.commands:admin", "Manage administrators of the HTTP API."),
    "platform": Lazy(
        "mailqueue.cli.admin.platform:platform",
        "Change settings, flags and keys of the installation.",
    ),
    "domain": Lazy(
        "mailqueue.cli.domains.commands:domain", "Limit the sending rate to recipient domains."
    ),
    "tracking": Lazy(
        "mailqueue.cli.domains.tracking:tracking",
        "Check tracking domains and rotate tracking keys.",
    ),
    "dkim": Lazy(
        "mailqueue.cli.domains.dkim.commands:dkim", "Manage DKIM keys and check a domain's DNS."
    ),
    "vault": Lazy(
        "mailqueue.cli.vault.commands:vault", "Rotate encryption keys; manage customer-held keys."
    ),
    "trap": Lazy(
        "mailqueue.cli.trap.commands:trap", "Show emails caught by the built-in mail trap."
    ),
    "doctor": Lazy(
        "mailqueue.cli.status.doctor:doctor", "Check the installation and suggest fixes."
    ),
    "verify": Lazy(
        "mailqueue.cli.status.verify:verify", "Check that every accepted email is accounted for."
    ),
    "restored": Lazy(
        "mailqueue.cli.maintenance.restored:restored",
        "Hold emails that may have been sent since a backup.",
    ),
    "bench": Lazy(
        "mailqueue.cli.bench.commands:bench", "Measure how fast this database accepts and sends."
    ),
    "maintain": Lazy(
        "mailqueue.cli.maintenance.maintain:maintain",
        "Run maintenance: partitions, retention, archive.",
    ),
    "archive": Lazy(
        "mailqueue.cli.maintenance.archive:archive",
        "List, verify, read and restore archived records.",
    ),
    "migrate": Lazy("mailqueue.cli.migrate:migrate", "Bring the database schema up to date."),
    "psql": Lazy("mailqueue.cli.psql:psql", "Open psql on mailqueue's database."),
    "api": Lazy("mailqueue.cli.api:api", "Run only the HTTP API."),
    "worker": Lazy("mailqueue.cli.worker.commands:worker", "Run only the workers."),
}


def exit_code_for(error: MailqueueError) -> int:
    """Return the exit code for an error."""
    if isinstance(error, Unavailable):
        return EXIT_UNAVAILABLE
    if isinstance(error, ConfigError):
        return EXIT_CONFIG
    return EXIT_FAULT


class LazyGroup(click.Group):
    """A command group that imports a command when it is used."""

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
        """Run the command; print an error to standard error, each line with the prefix `error:`."""
        try:
            return super().invoke(ctx)
        except MailqueueError as exc:
            for line in str(exc).splitlines():
                click.echo(f"error: {line}", err=True)
            ctx.exit(exit_code_for(exc))


def load(lazy: Lazy) -> click.Command:
    """Import the module of a command and return the command."""
    module, _, attribute = lazy.target.partition(":")
    command = getattr(importlib.import_module(module), attribute)
    if not isinstance(command, click.Command):
        raise TypeError(f"{lazy.target} is not a click command")
    return command


main = LazyGroup(
    name="mailqueue",
    lazy=COMMANDS,
    help="The email platform that lives in your own PostgreSQL.",
    epilog="Run `mailqueue COMMAND --help` for the options and examples of a command.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
click.version_option(VERSION, prog_name="mailqueue", message="%(prog)s %(version)s")(main)
