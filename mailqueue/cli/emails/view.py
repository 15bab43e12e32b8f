"""Output of one email: its facts, recipients, attempts and events."""

from collections.abc import Sequence
from datetime import datetime

import click

from mailqueue.cli.support.output import Column, facts, paint, show, table
from mailqueue.contract.emails import Attempt, AttemptConversation, Event, OperatorEmail
from mailqueue.mail.reads.emails import detail_of

_RECIPIENTS = (
    Column("kind", "KIND"),
    Column("address", "ADDRESS"),
    Column("status", "STATUS"),
    Column("reason", "REASON"),
    Column("reply_code", "CODE"),
)
_ATTEMPTS = (
    Column("attempt", "ATTEMPT", numeric=True),
    Column("sent_at", "AT"),
    Column("status", "STATUS"),
    Column("sender", "SENDER"),
    Column("worker_id", "WORKER", numeric=True),
    Column("code", "CODE"),
    Column("enhanced_code", "ENHANCED"),
    Column("response_ms", "MS", numeric=True),
    Column("reply", "REPLY"),
)
_LINES = (
    Column("ms", "MS", numeric=True),
    Column("by", "BY"),
    Column("text", "TEXT"),
)
_EVENTS = (
    Column("occurred_at", "AT"),
    Column("type", "WHAT"),
    Column("recipient_email", "RECIPIENT"),
    Column("source", "SAYS"),
    Column("code", "CODE"),
    Column("is_machine", "MACHINE"),
    Column("detail", "DETAIL"),
)


def print_email(email: OperatorEmail, *, with_conversations: bool = False) -> None:
    """Print an email; leave out empty tables."""
    facts(_facts(email))
    sections: tuple[tuple[str, Sequence[object], Sequence[Column]], ...] = (
        ("Recipients", email.recipients if len(email.recipients) > 1 else (), _RECIPIENTS),
        ("Attempts", email.attempts, _ATTEMPTS),
        ("Events", [_event(each) for each in email.events], _EVENTS),
    )
    for title, rows, columns in sections:
        if rows:
            click.echo()
            click.echo(paint(title, bold=True))
            table(rows, columns)
    for attempt in email.attempts if with_conversations else ():
        if attempt.conversation is not None:
            _print_conversation(attempt, attempt.conversation)


def _print_conversation(attempt: Attempt, conversation: AttemptConversation) -> None:
    click.echo()
    heading = f"Attempt {attempt.attempt}, {conversation.protocol.upper()}"
    click.echo(paint(heading, bold=True))
    table(conversation.lines, _LINES)
    if conversation.body is not None:
        for line in conversation.body.splitlines():
            click.echo(f"  {show(line)}")


def _event(event: Event) -> dict[str, object]:
    data = event.data if isinstance(event.data, dict) else {}
    shown = {column.key: getattr(event, column.key, None) for column in _EVENTS}
    return shown | {"detail": detail_of(event), "is_machine": data.get("is_machine")}


def _facts(email: OperatorEmail) -> list[tuple[str, object]]:
    name = email.recipient_name
    to = f"{name} <{email.recipient_email}>" if name else email.recipient_email
    instants: list[tuple[str, datetime | None]] = [
        ("created", email.created_at),
        ("due", email.run_at),
        ("expires", None if email.finished_at else email.expires_at),
        ("finished", email.finished_at),
    ]
    pairs: list[tuple[str, object]] = [
        ("id", email.id),
        ("project", email.project),
        ("status", email.status),
        ("reason", email.reason),
        ("to", to),
        ("subject", email.subject),
        ("category", email.category),
        ("priority", email.priority),
        *instants,
        ("attempts", f"{email.attempt_count} of {email.max_attempts}"),
        ("sender account", email.sender),
        ("Message-ID", email.message_id),
    ]
    return [(name, value) for name, value in pairs if value is not None]
