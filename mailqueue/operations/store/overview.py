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
from mailqueue.db.statements.emails import api as api_sql
from mailqueue.db.statements.operations import overview as overview_sql
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
    return await fetch.value(conn, overview_sql.READ_CLOCK, None, datetime)


async def traffic(conn: Conn, *, since: datetime, until: datetime) -> list[TrafficRow]:
    """Return how the attempts of a span ended, by minute and project."""
    return await fetch.many(
        conn, overview_sql.LIST_TRAFFIC, {"since": since, "until": until}, TrafficRow
    )


async def accounts(conn: Conn, *, since: datetime) -> list[AccountTraffic]:
    """Return the attempts of each sender account since a time, the slowest account first."""
    return await fetch.many(conn, overview_sql.LIST_ACCOUNT_BOARD, {"since": since}, AccountTraffic)


async def lane_depths(conn: Conn) -> list[LaneDepth]:
    """Return lanes with unfinished mail, most urgent first."""
    return await fetch.many(conn, overview_sql.LIST_LANE_DEPTHS, None, LaneDepth)


async def senders_today(conn: Conn) -> list[SenderToday]:
    """Return all sender accounts with their headroom."""
    return await fetch.many(conn, overview_sql.LIST_SENDERS_TODAY, None, SenderToday)


async def workers_seen(conn: Conn) -> list[WorkerSeen]:
    """Return workers that run or ended a short while ago."""
    return await fetch.many(conn, overview_sql.LIST_WORKERS_SEEN, None, WorkerSeen)


async def totals(conn: Conn) -> list[StatusCount]:
    """Return the number of mails by status, estimated where there are many."""
    return await fetch.many(conn, overview_sql.COUNT_EMAILS_BY_STATUS, None, StatusCount)


async def finished_of(conn: Conn, project_id: UUID) -> list[StatusCount]:
    """Return the number of finished mails of a project by status; of many it is estimated."""
    params = {"project_id": project_id}
    return await fetch.many(conn, overview_sql.COUNT_FINISHED_OF_PROJECT, params, StatusCount)


async def why(conn: Conn, email_id: UUID) -> str:
    """Return the reason for a mail's state."""
    return await fetch.value(conn, overview_sql.EXPLAIN_EMAIL, {"id": email_id}, str)


async def has_sent(conn: Conn, project_id: UUID | None) -> bool:
    """Return whether a sender account of a project (None: of any) has ever sent mail."""
    return await fetch.value(conn, overview_sql.HAS_SENT, {"project_id": project_id}, bool)


async def archived(conn: Conn, email_id: UUID) -> str | None:
    """Return how to find a mail in the archive; None if none is archived."""
    return await fetch.maybe(conn, overview_sql.FIND_ARCHIVED_EMAIL, {"id": email_id}, str)


async def attempts(conn: Conn, email_id: UUID) -> list[LoggedAttempt]:
    """Return the attempts to send a mail, in order."""
    found = await fetch.many(conn, overview_sql.SHOW_ATTEMPTS, {"id": email_id}, LoggedAttempt)
    return [with_conversation(each) for each in found]


async def books(conn: Conn) -> list[BookLine]:
    """Return the books, oldest day first."""
    return await fetch.many(conn, overview_sql.READ_BOOKS, None, BookLine)


async def server_facts(conn: Conn) -> ServerFacts:
    """Return the version and settings of the server."""
    return await fetch.one(conn, overview_sql.DESCRIBE_SERVER, None, ServerFacts)


async def may_act_as_api(conn: Conn) -> bool:
    """Return whether row-level security would apply to an API with this login."""
    return await fetch.value(conn, api_sql.MAY_ACT_AS_API, None, bool)


async def known_roles(conn: Conn, names: list[str]) -> set[str]:
    """Return which of these roles exist."""
    return set(await fetch.many(conn, overview_sql.LIST_KNOWN_ROLES, {"names": names}, str))
