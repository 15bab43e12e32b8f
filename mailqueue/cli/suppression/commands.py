"""`mailqueue suppression`: suppressed addresses, one by one."""

from datetime import UTC, datetime

import click

from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_message,
    print_result,
    print_rows,
)
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples, show, table
from mailqueue.cli.suppression.lists import export, import_
from mailqueue.contract.suppression import AddedSuppressions, SuppressionReason
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import key_of
from mailqueue.core.units import parse_duration
from mailqueue.suppression import entries
from mailqueue.suppression.acceptable import new_suppression

EXIT_SUPPRESSED = 1

_COLUMNS = (
    Column("email", "ADDRESS"),
    Column("reason", "REASON"),
    Column("category", "CATEGORY"),
    Column("created_at", "SINCE"),
    Column("expires_at", "UNTIL"),
    Column("detail", "DETAIL"),
)
_CAUSES = (
    Column("reason", "REASON"),
    Column("category", "CATEGORY"),
    Column("created_at", "SINCE"),
    Column("expires_at", "UNTIL"),
    Column("email_id", "EMAIL"),
    Column("source", "BY"),
    Column("detail", "DETAIL"),
)
_ENDED = (
    *_CAUSES[:3],
    Column("ended_at", "ENDED"),
    Column("email_id", "EMAIL"),
    Column("ended_by", "ENDED BY"),
    Column("ended_why", "WHY"),
)
_ADDED = (Column("email", "ADDRESS"), Column("status", "OUTCOME"))
_project = click.option(
    "--project", default="default", show_default=True, help="Project of the list."
)
_category = click.option("--category", help="Limit to emails of this category.")


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue suppression add bob@example.com",
        "mailqueue suppression check bob@example.com",
        "mailqueue suppression import bounces.csv --reason hard_bounce --dry-run",
    ),
)
def suppression() -> None:
    """Manage the lists of addresses that projects must not send to."""


@suppression.command(
    epilog=examples(
        "mailqueue suppression add bob@example.com",
        "mailqueue suppression add a@example.com b@example.com --reason complaint --detail phone",
        "mailqueue suppression add bob@example.com --category marketing --for 30d",
    )
)
@click.argument("emails", metavar="ADDRESS...", nargs=-1, required=True)
@click.option(
    "--reason",
    type=click.Choice([reason.value for reason in SuppressionReason]),
    default=SuppressionReason.MANUAL.value,
    show_default=True,
    help="Reason of the suppression.",
)
@_category
@click.option("--detail", help="Note, such as the reason.")
@click.option(
    "--for", "lasts", metavar="DURATION", help="Duration, such as 30d.  [default: no end]"
)
@_project
@json_option
def add(
    *,
    emails: tuple[str, ...],
    reason: str,
    category: str | None,
    detail: str | None,
    lasts: str | None,
    project: str,
) -> None:
    """Suppress addresses. Emails to them that are queued are suppressed too."""
    until = _end(lasts)
    wanted = [
        new_suppression(
            email,
            reason=reason,
            category=category,
            detail=detail,
            expires_at=until and until.isoformat(),
        )
        for email in emails
    ]

    found = execute(lambda app: entries.add(app.conn, project, entries=wanted, by=operator()))
    print_rows(found, _ADDED, document=AddedSuppressions(found))


@suppression.command(
    "list",
    epilog=examples(
        "mailqueue suppression list",
        "mailqueue suppression list --reason complaint --having @example.com --project shop",
        "mailqueue suppression list --limit 1000 --json",
    ),
)
@click.option(
    "--reason",
    type=click.Choice([reason.value for reason in SuppressionReason]),
    help="Filter by reason.",
)
@_category
@click.option("--having", metavar="TEXT", help="Filter by text in the address.")
@click.option(
    "--limit", type=int, default=100, show_default=True, help="Maximum number of rows, up to 1000."
)
@click.option(
    "--before",
    metavar="CURSOR",
    help="Continue the list: `next_cursor` of --json, or the id of an address.",
)
@_project
@json_option
def list_(
    *,
    reason: str | None,
    category: str | None,
    having: str | None,
    limit: int,
    before: str | None,
    project: str,
) -> None:
    """List suppressed addresses, newest first."""
    last_id = _last_id(before)
    found = execute(
        lambda app: entries.list_page(
            app.conn,
            project,
            before=last_id,
            limit=limit,
            reason=None if reason is None else SuppressionReason(reason),
            category=category,
            having=having,
        )
    )
    print_rows(found.data, _COLUMNS, document=found)


@suppression.command(
    epilog=examples(
        "mailqueue suppression check bob@example.com",
        "mailqueue suppression check bob@example.com --category marketing --project shop",
    )
)
@click.argument("email", metavar="ADDRESS")
@_category
@_project
@json_option
@click.pass_context
def check(ctx: click.Context, *, email: str, category: str | None, project: str) -> None:
    """Show whether ADDRESS is suppressed; exit 1 if it is."""
    found = execute(lambda app: entries.check(app.conn, project, email=email, category=category))

    def as_text() -> None:
        if found.suppressions:
            table(found.suppressions, _COLUMNS)
        else:
            click.echo(f"{show(found.email)} is not suppressed")

    print_result(found, as_text)
    if found.suppressed:
        ctx.exit(EXIT_SUPPRESSED)


@suppression.command(
    epilog=examples(
        "mailqueue suppression remove bob@example.com",
        "mailqueue suppression remove bob@example.com --category marketing",
        "mailqueue suppression remove bob@example.com --reason 'mailbox works again'",
    )
)
@click.argument("email", metavar="ADDRESS")
@_category
@click.option(
    "--reason",
    "why",
    help="Reason, recorded in the audit log; required after a bounce or complaint.",
)
@click.option("--why", "old_why", hidden=True)
@_project
@json_option
def remove(
    *, email: str, category: str | None, why: str | None, old_why: str | None, project: str
) -> None:
    """Remove ADDRESS from the list. Emails already finished as suppressed stay so."""
    found = execute(
        lambda app: entries.remove(
            app.conn, project, email=email, category=category, why=why or old_why, by=operator()
        )
    )
    print_message(found, f"{show(found.email or email)} is no longer suppressed")


@suppression.command(
    "show",
    epilog=examples(
        "mailqueue suppression show bob@example.com",
        "mailqueue suppression show bob@example.com --project shop --json",
    ),
)
@click.argument("who", metavar="ADDRESS")
@_project
@json_option
def show_(*, who: str, project: str) -> None:
    """Show why ADDRESS is suppressed, by which email, and earlier suppressions.

    ADDRESS may be the hash of an address, which is all that is known after an erasure.
    """
    found = execute(lambda app: entries.show(app.conn, project, who=who))

    def as_text() -> None:
        if found.suppressions:
            table(found.suppressions, _CAUSES)
        else:
            click.echo(f"{show(found.email or found.email_hash)} is not suppressed")
        if found.history:
            click.echo("\nbefore:")
            table(found.history, _ENDED)

    print_result(found, as_text)


def _last_id(text: str | None) -> int | None:
    """Return the id of the last row of a page, from the page's cursor or as it is."""
    if text is not None and text.isdecimal():
        return int(text)
    try:
        (last_id,) = key_of(text, int)
    except InvalidField as exc:
        raise InvalidField("before", exc.why) from None
    return None if last_id is None else int(last_id)


def _end(lasts: str | None) -> datetime | None:
    if lasts is None:
        return None
    try:
        return datetime.now(UTC) + parse_duration(lasts)
    except (ValueError, OverflowError) as exc:
        raise InvalidField("for", str(exc)) from None


suppression.add_command(import_)
suppression.add_command(export)
