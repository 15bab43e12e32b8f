"""`mailqueue email`: list and show emails, and operations on one or many of them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

import click

from mailqueue.cli.emails.listing import list_
from mailqueue.cli.emails.many import EmailCommand, print_handled, run_command
from mailqueue.cli.emails.selection import Selection, moving_options, selection_options
from mailqueue.cli.emails.view import print_email
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_result
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import examples
from mailqueue.core.errors import InvalidField
from mailqueue.operations import emails
from mailqueue.operations.emails import EmailOperation
from mailqueue.operations.model import PRIORITIES

_ID = "019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11"


_background_option = click.option(
    "--background",
    "is_background",
    is_flag=True,
    help="Let workers do it, in batches; `mailqueue operation list` shows the progress.",
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        "mailqueue email list --to ann@example.com",
        f"mailqueue email show {_ID}",
        f"mailqueue email cancel {_ID} --reason 'sent by mistake'",
        "mailqueue email cancel --project default --campaign spring --older-than 2d --dry-run",
        "mailqueue email requeue --project default --status failed --newer-than 4h",
    ),
)
def email() -> None:
    """List, show, cancel, hold, release, requeue, resend, reprioritise or reschedule emails."""


email.add_command(list_)


@email.command(
    epilog=examples(f"mailqueue email show {_ID}", f"mailqueue email show {_ID} --attempts")
)
@click.argument("email_id", metavar="ID", type=click.UUID)
@click.option(
    "--attempts",
    "with_conversations",
    is_flag=True,
    help="Show what was said at each attempt that was not accepted; --json always has it.",
)
@json_option
def show(*, email_id: UUID, with_conversations: bool) -> None:
    """Show one email with its recipients, attempts and events."""
    found = execute(lambda app: emails.explain(app.conn, email_id))
    print_result(found, lambda: print_email(found, with_conversations=with_conversations))


@email.command(
    epilog=examples(
        f"mailqueue email cancel {_ID}",
        "mailqueue email cancel --project default --campaign spring --dry-run",
        f"mailqueue email cancel --project default --batch {_ID}",
    )
)
@selection_options
@click.option(
    "--reason",
    default="cancelled by an operator",
    show_default=True,
    help="Reason, recorded in the audit log.",
)
@_background_option
@json_option
def cancel(*, selection: Selection, reason: str, is_background: bool) -> None:
    """Cancel unfinished emails, including those a worker has claimed but not yet handed over."""
    deed = EmailCommand(
        "cancel",
        "cancelled",
        {"reason": reason},
        lambda conn, operation: emails.cancel(conn, operation, reason=reason),
    )
    run_command(selection, deed, is_background=is_background)


@email.command(
    epilog=examples(
        f"mailqueue email hold {_ID} --reason 'wait for legal'",
        "mailqueue email hold --project default --domain example.com --yes",
        "mailqueue email hold --project default --subject 'spring sale' --background --yes",
    )
)
@selection_options
@click.option(
    "--reason",
    default="held by an operator",
    show_default=True,
    help="Reason, recorded in the audit log.",
)
@_background_option
@json_option
def hold(*, selection: Selection, reason: str, is_background: bool) -> None:
    """Hold pending emails until they are released."""
    deed = EmailCommand(
        "hold",
        "held",
        {"reason": reason},
        lambda conn, operation: emails.hold(conn, operation, reason=reason),
    )
    run_command(selection, deed, is_background=is_background)


@email.command(
    epilog=examples(
        f"mailqueue email release {_ID}",
        "mailqueue email release --project default --campaign spring",
    )
)
@selection_options
@_background_option
@json_option
def release(*, selection: Selection, is_background: bool) -> None:
    """Release held emails, so that they are sent."""
    deed = EmailCommand("release", "released", {}, emails.release)
    run_command(selection, deed, is_background=is_background)


@email.command(
    epilog=examples(
        f"mailqueue email requeue {_ID}",
        "mailqueue email requeue --project default --status failed --newer-than 4h",
    )
)
@selection_options
@_background_option
@json_option
def requeue(*, selection: Selection, is_background: bool) -> None:
    """Requeue failed, expired or cancelled emails under the same ids."""
    deed = EmailCommand("requeue", "requeued", {}, emails.requeue)
    run_command(selection, deed, is_background=is_background)


@email.command(
    "resend-failed",
    epilog=examples("mailqueue email resend-failed --project default --newer-than 4h --dry-run"),
)
@selection_options
@json_option
def resend_failed(*, selection: Selection) -> None:
    """Requeue failed emails under the same ids: requeue with --status failed."""
    if selection.ids or selection.where.get("status", "failed") != "failed":
        raise click.UsageError("give --project and further filters; requeue takes ids and states")
    chosen = replace(selection, where={**selection.where, "status": "failed"})
    run_command(chosen, EmailCommand("requeue", "requeued", {}, emails.requeue))


@email.command(
    epilog=examples(
        f"mailqueue email resend {_ID} --reason 'recipient deleted it'",
        "mailqueue email resend --project default --domain example.com --newer-than 1d --dry-run",
    )
)
@selection_options
@click.option(
    "--reason",
    default="resent by an operator",
    show_default=True,
    help="Reason, recorded in the audit log.",
)
@json_option
def resend(*, selection: Selection, reason: str) -> None:
    """Resend sent emails, each as a new email with a new id."""
    deed = EmailCommand(
        "resend",
        "resent",
        {"reason": reason},
        lambda conn, operation: emails.resend(conn, operation, reason=reason),
    )
    run_command(selection, deed)


@email.command(
    epilog=examples(
        f"mailqueue email reprioritise {_ID} --priority critical",
        "mailqueue email reprioritise --project default --lane normal --priority low",
    )
)
@selection_options
@click.option("--priority", required=True, type=click.Choice(PRIORITIES), help="New priority.")
@json_option
def reprioritise(*, selection: Selection, priority: str) -> None:
    """Change the priority of unfinished emails."""
    deed = EmailCommand(
        "reprioritise",
        "moved",
        {"priority": priority},
        lambda conn, operation: emails.reprioritise(conn, operation, priority=priority),
    )
    run_command(selection, deed)


@email.command(
    epilog=examples(
        f"mailqueue email move {_ID} --sender backup --reason 'relay is down'",
        "mailqueue email move --project default --from relay --sender backup --background",
    )
)
@moving_options
@click.option("--sender", metavar="NAME", help="Sender account of the email's project.")
@click.option("--any", "is_any", is_flag=True, help="Let any sender account send it.")
@click.option("--reason", default="by hand", show_default=True, help="Reason for the audit log.")
@_background_option
@json_option
def move(
    *, selection: Selection, sender: str | None, is_any: bool, reason: str, is_background: bool
) -> None:
    """Let another sender account send pending or held emails."""
    if (sender is not None) == is_any:
        raise click.UsageError("give either --sender or --any")
    to = {} if sender is None else {"to": sender}
    deed = EmailCommand(
        "move",
        "moved",
        {"reason": reason, **to},
        lambda conn, operation: emails.move(conn, operation, sender=sender, reason=reason),
    )
    run_command(selection, deed, is_background=is_background)


@email.command(
    epilog=examples(
        f"mailqueue email reschedule {_ID} --run-at 2030-05-01T08:00:00+02:00",
    )
)
@click.argument("ids", metavar="ID...", type=click.UUID, nargs=-1, required=True)
@click.option(
    "--run-at",
    required=True,
    metavar="INSTANT",
    help="Earliest time to send, such as 2030-05-01T08:00:00+02:00; now if in the past.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be done and change nothing.")
@json_option
def reschedule(*, ids: Sequence[UUID], run_at: str, dry_run: bool) -> None:
    """Change when pending or held emails are sent, before their first attempt."""
    at = _instant("run_at", run_at)
    operation = EmailOperation(ids, operator(), is_trial=dry_run)
    print_handled(execute(lambda app: emails.reschedule(app.conn, operation, at=at)))


def _instant(field: str, text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is not None:
            return at
    except (ValueError, OverflowError):
        pass
    why = "RFC 3339 format with an offset, such as 2030-05-01T08:00:00+02:00"
    raise InvalidField(field, f"a timestamp is needed, got {text!r}: {why}")
