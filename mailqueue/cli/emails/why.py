"""`mailqueue why`: why an email has not been sent, and its attempts."""

from uuid import UUID

import click

from mailqueue.cli.emails.view import print_explained
from mailqueue.cli.support.answer import execute, json_option, print_result
from mailqueue.cli.support.output import examples
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
    """Explain why an email has not been sent, or show its outcome."""
    found = execute(lambda app: explain(app.conn, email_id))

    def as_text() -> None:
        click.echo(found.why)
        click.echo()
        print_explained(found)

    print_result(found, as_text)
