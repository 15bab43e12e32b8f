"""`mailqueue why`: why an email or a row of another queue waits."""

from contextlib import suppress
from functools import partial
from uuid import UUID

import click

from mailqueue.cli.emails.view import print_email
from mailqueue.cli.queues.view import print_row
from mailqueue.cli.support.answer import execute, json_option, print_result
from mailqueue.cli.support.output import examples
from mailqueue.contract.emails import OperatorEmail
from mailqueue.contract.operations import ExplainedRow
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.operations import queues
from mailqueue.operations.emails import explain


@click.command(
    epilog=examples(
        "mailqueue why 019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11",
        "mailqueue why 019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11 --json",
    )
)
@click.argument("email_id", metavar="ID", type=click.UUID)
@json_option
def why(*, email_id: UUID) -> None:
    """Explain why an email has not been sent, or show its outcome.

    ID may also be that of a webhook delivery or a row of another queue.
    """
    found = execute(lambda app: _explained(app.conn, email_id))
    if isinstance(found, ExplainedRow):
        print_result(found, partial(print_row, found))
    else:
        print_result(found, partial(_print, found))


async def _explained(conn: Conn, some_id: UUID) -> OperatorEmail | ExplainedRow:
    try:
        return await explain(conn, some_id)
    except NotFound:
        with suppress(NotFound):
            return await queues.explain(conn, some_id)
        raise


def _print(email: OperatorEmail) -> None:
    click.echo(email.why)
    click.echo()
    print_email(email)
