"""`mailqueue find`: search all projects by an id, an address or a name."""

import click

from mailqueue.cli.support.answer import execute, json_option, print_rows
from mailqueue.cli.support.output import Column, examples
from mailqueue.contract.page import Page
from mailqueue.operations.search import search

_MATCHES = (
    Column("kind", "KIND"),
    Column("project", "PROJECT"),
    Column("id", "ID"),
    Column("status", "STATUS"),
    Column("emails", "EMAILS", numeric=True),
    Column("title", "TITLE"),
    Column("detail", "DETAIL"),
    Column("at", "AT"),
)


@click.command(
    epilog=examples(
        "mailqueue find ann@example.com",
        "mailqueue find 019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11",
        "mailqueue find '<20260501.77@shop.example>' --json",
    )
)
@click.argument("text", metavar="TEXT")
@json_option
def find(*, text: str) -> None:
    """Find emails, batches, recipients, projects and templates in all projects.

    TEXT is an id, a Message-ID, the id that a provider gave an email, an address, or the first
    characters of a name or slug. Archived emails are not found.
    """
    found = execute(lambda app: search(app.conn, text))
    print_rows(found, _MATCHES, document=Page(found, None), nothing="nothing found")
