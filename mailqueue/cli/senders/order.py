"""`mailqueue sender prefer` and `remove`: make an account the first, or remove it."""

import click

from mailqueue.cli.senders.view import print_outcome
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_message
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.confirmation import asks_first
from mailqueue.cli.support.output import examples, show
from mailqueue.contract.senders import RemovedSender
from mailqueue.senders import accounts, changing
from mailqueue.senders.model import SenderAccount

_project = click.option(
    "--project", default="default", show_default=True, help="Project of the account."
)


@click.command(
    epilog=examples("mailqueue sender prefer spare", "mailqueue sender prefer ses --json")
)
@click.argument("name")
@_project
@json_option
def prefer(*, name: str, project: str) -> None:
    """Make an account the first choice of emails that name no account, and resume it."""

    async def preferred(app: Opened) -> SenderAccount:
        account = await accounts.find(app.conn, project, name=name)
        return await changing.prefer(app.conn, project, account_id=account.id, by=operator())

    print_outcome(preferred)


@click.command(
    epilog=examples(
        "mailqueue sender remove relay", "mailqueue sender remove relay --project shop --yes"
    )
)
@click.argument("name")
@_project
@asks_first("Remove sender account {name} of project {project} with its password?")
@json_option
def remove(*, name: str, project: str) -> None:
    """Remove an account and its password. Its queued emails are sent by other accounts.

    Fails while the account is sending, or if it is the only account of a routing rule.
    """

    async def removed(app: Opened) -> SenderAccount:
        account = await accounts.find(app.conn, project, name=name)
        await changing.remove(app.conn, project, account_id=account.id, by=operator())
        return account

    gone = execute(removed)
    print_message(RemovedSender(gone.name, gone.id), f"{show(gone.name)} is removed")
