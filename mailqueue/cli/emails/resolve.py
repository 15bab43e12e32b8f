"""`mailqueue resolve`: decide whether emails with unknown outcome were sent."""

from collections.abc import Sequence
from uuid import UUID

import click

from mailqueue.cli.emails.many import print_handled
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import examples
from mailqueue.contract.operations import ActionResult
from mailqueue.operations import emails
from mailqueue.operations.emails import EmailOperation

_ID = "019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11"


@click.command(
    epilog=examples(
        f"mailqueue resolve {_ID} --sent --reason 'recipient confirmed by phone'",
        f"mailqueue resolve {_ID} --not-sent",
    )
)
@click.argument("ids", metavar="ID...", type=click.UUID, nargs=-1, required=True)
@click.option("--sent/--not-sent", "was_sent", default=None, help="Outcome of the email.")
@click.option("--reason", "--note", "note", help="Evidence for the outcome; stored with the email.")
@json_option
def resolve(*, ids: Sequence[UUID], was_sent: bool | None, note: str | None) -> None:
    """Record the outcome of held emails that may or may not have been sent.

    `mailqueue status` counts them as held; the view mailqueue.held lists each with its reason.
    --sent finishes the email. --not-sent queues it again; it is held again if its outcome is
    unknown again.
    """
    if was_sent is None:
        raise click.UsageError("the outcome is missing: give --sent or --not-sent")
    print_handled(execute(lambda app: _resolved(app, ids, was_sent=was_sent, note=note)))


async def _resolved(
    app: Opened, ids: Sequence[UUID], *, was_sent: bool, note: str | None
) -> list[ActionResult]:
    hand = EmailOperation(ids, operator())
    return await emails.resolve(app.conn, hand, was_sent=was_sent, note=note)
