"""Output of the queue's state: tables, the same on a terminal and in a pipe."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from mailqueue.cli.support.output import Column, paint, show, table
from mailqueue.contract.infrastructure import ServiceSeen
from mailqueue.contract.operations import LaneDepth, Overview, SenderToday
from mailqueue.operations.model import BLOCKED_WORDS, PRIORITIES

if TYPE_CHECKING:
    from rich.console import Group

TableRows = list[Mapping[str, object]]
MAX_WORDS = 4
"""Words of a command that the table of services shows; `--json` has all."""

_LANES = (
    Column("project", "PROJECT"),
    Column("priority", "PRIORITY"),
    Column("route", "ROUTE"),
    Column("due", "DUE", numeric=True),
    Column("pending", "PENDING", numeric=True),
    Column("assigned", "ASSIGNED", numeric=True),
    Column("held", "HELD", numeric=True),
    Column("oldest_wait", "OLDEST", numeric=True),
    Column("rate", "PER MIN", numeric=True),
    Column("blocked", "BLOCKED"),
)
_SENDERS = (
    Column("project", "PROJECT"),
    Column("sender", "SENDER"),
    Column("provider", "PROVIDER"),
    Column("daily_sent", "TODAY", numeric=True),
    Column("limit", "LIMIT", numeric=True),
    Column("headroom", "HEADROOM", numeric=True),
    Column("daily_bounces", "BOUNCES", numeric=True),
    Column("daily_errors", "ERRORS", numeric=True),
    Column("state", "STATUS"),
)
_WORKERS = (
    Column("id", "WORKER", numeric=True),
    Column("kind", "KIND"),
    Column("host", "HOST"),
    Column("pid", "PID", numeric=True),
    Column("status", "STATUS"),
    Column("assigned", "EMAILS", numeric=True),
    Column("assigned_rows", "ROWS", numeric=True),
    Column("silence", "LAST BEAT", numeric=True),
)
_QUEUES = (
    Column("queue", "QUEUE"),
    Column("due", "DUE", numeric=True),
    Column("oldest_due_at", "OLDEST DUE"),
    Column("scheduled", "SCHEDULED", numeric=True),
    Column("assigned", "ASSIGNED", numeric=True),
    Column("alone", "ALONE", numeric=True),
    Column("failed_last_day", "FAILED 1 D", numeric=True),
    Column("workers", "WORKERS", numeric=True),
)
_SERVICES = (
    Column("service", "SERVICE"),
    Column("processes", "PROCESSES", numeric=True),
    Column("hosts", "HOSTS"),
    Column("since", "SINCE"),
    Column("beat_at", "LAST BEAT"),
    Column("need", "NEEDED BECAUSE"),
    Column("command", "COMMAND"),
)
_TOTALS = (Column("status", "STATUS"), Column("emails", "EMAILS", numeric=True))


def print_overview(overview: Overview) -> None:
    """Print the tables with their titles."""
    for place, (title, rows, columns, nothing) in enumerate(_sections(overview)):
        if place:
            click.echo()
        click.echo(paint(title, bold=True))
        if rows:
            table(rows, columns)
        else:
            click.echo(nothing)


def rendered(overview: Overview) -> "Group":
    """Return the tables as one renderable that a terminal can redraw."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[Table | Text] = []
    for title, rows, columns, nothing in _sections(overview):
        parts.append(Text(title, style="bold"))
        if not rows:
            parts.append(Text(f"{nothing}\n"))
            continue
        grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for column in columns:
            grid.add_column(column.heading, justify="right" if column.numeric else "left")
        for row in rows:
            grid.add_row(*(Text(show(row[column.key])) for column in columns))
        parts.append(grid)
    return Group(*parts)


def _sections(overview: Overview) -> Iterable[tuple[str, TableRows, Sequence[Column], str]]:
    totals: TableRows = [
        {"status": s, "emails": f"about {n}" if s in overview.estimated else n}
        for s, n in overview.totals.items()
    ]
    yield "Emails", totals, _TOTALS, ""
    yield "Lanes", [_lane(lane) for lane in overview.lanes], _LANES, "no emails are waiting"
    yield (
        "Sender accounts",
        [_sender(sender) for sender in overview.senders],
        _SENDERS,
        "none: add one with `mailqueue sender add`",
    )
    yield "Queues", [asdict(queue) for queue in overview.queues], _QUEUES, ""
    yield "Services", [_service(service) for service in overview.services], _SERVICES, ""
    yield (
        "Workers",
        [asdict(worker) for worker in overview.workers],
        _WORKERS,
        "none: start one with `mailqueue worker send`",
    )


def _lane(lane: LaneDepth) -> Mapping[str, object]:
    return asdict(lane) | {
        "priority": PRIORITIES[lane.priority],
        "rate": f"{lane.sent_per_minute:.1f}",
        "blocked": _blocked(lane.blocked_by or lane.blocked_reason, lane.blocked_until),
    }


def _service(service: ServiceSeen) -> Mapping[str, object]:
    # The command of a worker names all its queues: only its first ones are shown.
    words = service.command.split()
    command = " ".join(words[:MAX_WORDS]) + (" …" if len(words) > MAX_WORDS else "")
    return asdict(service) | {"hosts": ", ".join(service.hosts), "command": command}


def _sender(sender: SenderToday) -> Mapping[str, object]:
    unlimited = sender.daily_limit is None
    # The status says what a person set; a block says what stands in the way now.
    state = sender.status if sender.blocked_reason in (None, sender.status) else None
    return asdict(sender) | {
        "limit": "none" if unlimited else sender.daily_limit,
        "headroom": "unlimited" if unlimited else sender.headroom,
        "state": state or _blocked(sender.blocked_reason, sender.blocked_until),
    }


def _blocked(reason: str | None, until: object) -> str | None:
    if reason is None:
        return None
    words = BLOCKED_WORDS.get(reason, reason)
    return f"{words} until {show(until)}" if until else words
