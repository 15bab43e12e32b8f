"""Output of one email: its facts, recipients, attempts and events."""

from datetime import datetime

import click

from mailqueue.cli.support.output import Column, facts, paint, table
from mailqueue.operations.model import PRIORITIES, EmailRow, Explained

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
    Column("error_code", "CODE"),
    Column("enhanced_code", "ENHANCED"),
    Column("response_ms", "MS", numeric=True),
    Column("reply", "REPLY"),
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


def print_explained(found: Explained) -> None:
    """Print an email; leave out empty tables."""
    facts(_facts(found.email))
    for title, rows, columns in (
        ("Recipients", found.recipients, _RECIPIENTS),
        ("Attempts", found.attempts, _ATTEMPTS),
        ("Events", found.events, _EVENTS),
    ):
        if rows:
            click.echo()
            click.echo(paint(title, bold=True))
            table(rows, columns)


def _facts(email: EmailRow) -> list[tuple[str, object]]:
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
        ("priority", PRIORITIES[email.priority]),
        *instants,
        ("attempts", f"{email.attempts} of {email.max_attempts}"),
        ("sender account", email.sender),
        ("Message-ID", email.message_id),
    ]
    return [(name, value) for name, value in pairs if value is not None]
