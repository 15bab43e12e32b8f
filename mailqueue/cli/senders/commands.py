"""`mailqueue sender`: show, add, change and test sender accounts."""

from datetime import datetime, timedelta

import click

from mailqueue.cli.senders.add import add
from mailqueue.cli.senders.change import change
from mailqueue.cli.senders.health import health
from mailqueue.cli.senders.limits import limits
from mailqueue.cli.senders.order import prefer, remove
from mailqueue.cli.senders.rates import rates
from mailqueue.cli.senders.trial import test
from mailqueue.cli.senders.view import print_accounts, print_outcome
from mailqueue.cli.senders.webhook import webhook
from mailqueue.cli.support.answer import json_option
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.instants import end_options
from mailqueue.cli.support.output import examples
from mailqueue.senders import accounts

project_option = click.option(
    "--project", default="default", show_default=True, help="Project of the account."
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue sender add --name relay --host smtp.example.com --tls starttls",
        "mailqueue sender change relay --host smtp2.example.com --password-env RELAY_PASSWORD",
        "mailqueue sender list",
    ),
)
def sender() -> None:
    """Add, change and test sender accounts."""


@sender.command(
    "list",
    epilog=examples("mailqueue sender list", "mailqueue sender list --project shop --json"),
)
@click.option("--project", help="Filter by project.")
@json_option
def list_(*, project: str | None) -> None:
    """List sender accounts in the order in which they are tried."""
    print_accounts(project)


@sender.command(
    epilog=examples("mailqueue sender show relay", "mailqueue sender show relay --json")
)
@click.argument("name")
@project_option
@json_option
def show(*, name: str, project: str) -> None:
    """Show one sender account. Its password is never shown."""
    print_outcome(lambda app: accounts.find(app.conn, project, name=name))


@sender.command(
    epilog=examples(
        "mailqueue sender pause relay --reason 'moving to another host'",
        "mailqueue sender pause relay --for 2h",
        "mailqueue sender pause relay --until 2030-01-31T08:00+01:00",
    )
)
@click.argument("name")
@project_option
@click.option("--reason", help="Reason, shown by `mailqueue why`.")
@end_options
@json_option
def pause(
    *, name: str, project: str, reason: str | None, until: datetime | timedelta | None
) -> None:
    """Pause an account; its emails wait or are sent by another account."""
    print_outcome(
        lambda app: accounts.pause(app.conn, project, name=name, reason=reason, until=until),
    )


@sender.command(epilog=examples("mailqueue sender resume relay"))
@click.argument("name")
@project_option
@json_option
def resume(*, name: str, project: str) -> None:
    """Resume a paused or suspended account."""
    print_outcome(lambda app: accounts.resume(app.conn, project, name=name))


@sender.command(
    epilog=examples("mailqueue sender fallback spare", "mailqueue sender fallback spare --off")
)
@click.argument("name")
@project_option
@click.option("--off", is_flag=True, help="Make the account a regular account again.")
@json_option
def fallback(*, name: str, project: str, off: bool) -> None:
    """Make an account a fallback: it is used only while no regular account may send."""
    print_outcome(
        lambda app: accounts.set_fallback(app.conn, project, name=name, is_fallback=not off),
    )


sender.add_command(add)
sender.add_command(change)
sender.add_command(limits)
sender.add_command(test)
sender.add_command(health)
sender.add_command(prefer)
sender.add_command(remove)
sender.add_command(rates)
sender.add_command(webhook)
