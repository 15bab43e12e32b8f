"""SQL of the overview for operators."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from mailqueue.contract.admin import StatusCount
from mailqueue.contract.emails import LoggedAttempt
from mailqueue.contract.operations import (
    AccountTraffic,
    BookLine,
    LaneDepth,
    SenderToday,
    WorkerSeen,
)
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.mail.reads.conversations import with_conversation


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Version and settings of the server."""

    version: str
    version_num: int
    encoding: str
    isolation: str


class TrafficRow(NamedTuple):
    """How the attempts of a project ended within a minute."""

    minute: datetime
    project_id: UUID
    sent: int
    deferred: int
    bounced: int
    failed: int


async def clock(conn: Conn) -> datetime:
    """Return the time of the server."""
    return await fetch.value(conn, "read_clock", None, datetime)


async def traffic(conn: Conn, *, since: datetime, until: datetime) -> list[TrafficRow]:
    """Return how the attempts of a span ended, by minute and project."""
    return await fetch.many(conn, "list_traffic", {"since": since, "until": until}, TrafficRow)


async def accounts(conn: Conn, *, since: datetime) -> list[AccountTraffic]:
    """Return the attempts of each sender account since a time, the slowest account first."""
    return await fetch.many(conn, "list_account_board", {"since": since}, AccountTraffic)


async def lane_depths(conn: Conn) -> list[LaneDepth]:
    """Return lanes with unfinished mail, most urgent first."""
    return await fetch.many(conn, "list_lane_depths", None, LaneDepth)


async def senders_today(conn: Conn) -> list[SenderToday]:
    """Return all sender accounts with their headroom."""
    return await fetch.many(conn, "list_senders_today", None, SenderToday)


async def workers_seen(conn: Conn) -> list[WorkerSeen]:
    """Return workers that run or ended a short while ago."""
    return await fetch.many(conn, "list_workers_seen", None, WorkerSeen)


async def totals(conn: Conn) -> list[StatusCount]:
    """Return the number of mails by status, estimated where there are many."""
    return await fetch.many(conn, "count_emails_by_status", None, StatusCount)


async def finished_of(conn: Conn, project_id: UUID) -> list[StatusCount]:
    """Return the number of finished mails of a project by status; of many it is estimated."""
    params = {"project_id": project_id}
    return await fetch.many(conn, "count_finished_of_project", params, StatusCount)


async def why(conn: Conn, email_id: UUID) -> str:
    """Return the reason for a mail's state."""
    return await fetch.value(conn, "explain_email", {"id": email_id}, str)


async def has_sent(conn: Conn, project_id: UUID | None) -> bool:
    """Return whether a sender account of a project (None: of any) has ever sent mail."""
    return await fetch.value(conn, "has_sent", {"project_id": project_id}, bool)


async def archived(conn: Conn, email_id: UUID) -> str | None:
    """Return how to find a mail in the archive; None if none is archived."""
    return await fetch.maybe(conn, "find_archived_email", {"id": email_id}, str)


async def attempts(conn: Conn, email_id: UUID) -> list[LoggedAttempt]:
    """Return the attempts to send a mail, in order."""
    found = await fetch.many(conn, "show_attempts", {"id": email_id}, LoggedAttempt)
    return [with_conversation(each) for each in found]


async def books(conn: Conn) -> list[BookLine]:
    """Return the books, oldest day first."""
    return await fetch.many(conn, "read_books", None, BookLine)


async def server_facts(conn: Conn) -> ServerFacts:
    """Return the version and settings of the server."""
    return await fetch.one(conn, "describe_server", None, ServerFacts)


async def may_act_as_api(conn: Conn) -> bool:
    """Return whether row-level security would apply to an API with this login."""
    return await fetch.value(conn, "may_act_as_api", None, bool)


async def known_roles(conn: Conn, names: list[str]) -> set[str]:
    """Return which of these roles exist."""
    return set(await fetch.many(conn, "list_known_roles", {"names": names}, str))
