"""`mailqueue why`: why an email has not been sent, and its attempts."""

from uuid import UUID

import click

from mailqueue.cli.emails.view import print_explained
from mailqueue.cli.support.app import opened, run
from mailqueue.cli.support.output import emit, examples, json_option
from mailqueue.operations.emails import explain
from mailqueue.operations.model import Explained


@click.command(
    epilog=examples(
        "mailqueue why 019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11",
        "mailqueue why 019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11 --json",
    )
)
@click.argument("email_id", metavar="ID", type=click.UUID)
@json_option
def why(*, email_id: UUID, as_json: bool) -> None:
    """Explain why an email has not been sent, or show its outcome."""
    found = run(explained(email_id))
    if as_json:
        emit(found)
    else:
        click.echo(found.why)
        click.echo()
        print_explained(found)


async def explained(email_id: UUID) -> Explained:
    """Return everything known about one email."""
    async with opened() as app:
        return await explain(app.conn, email_id)
