"""SQL of counts."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from uuid import UUID

from psycopg.errors import QueryCanceled

from mailqueue.analytics.model import (
    AccountRow,
    CountedTemplate,
    CountsRow,
    DifferenceRow,
    LatencyRow,
    LinkUrl,
    ProgressRow,
    SentRow,
    SpanStart,
    Starts,
    StatsScope,
    SummedRow,
    TimeSpan,
)
from mailqueue.contract.analytics import Bucket
from mailqueue.core.errors import InvalidField
from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.analytics import stats as sql

TOTAL = "total"


async def fold(conn: Conn, *, state_id: UUID, claim_no: int, batch_rows: int) -> str:
    """Count what was written since; return lost, cleared, waiting, more, done or idle.

    Safe to repeat: what was counted is behind the cursor.
    """
    values = {"id": state_id, "claim_no": claim_no, "batch_rows": batch_rows}
    return await fetch.value(conn, sql.FOLD_STATS, values, str)


async def judge_domains(conn: Conn) -> int:
    """Write notices of domains that refuse more mail than the week before; return their number."""
    return await fetch.value(conn, sql.JUDGE_DOMAINS, None, int)


async def as_of(conn: Conn) -> datetime:
    """Return the time before which everything that was written is counted."""
    return await fetch.value(conn, sql.READ_STATS_AS_OF, {}, datetime)


@asynccontextmanager
async def bounded(conn: Conn, longest: timedelta) -> AsyncIterator[None]:
    """Bound the time of each statement of the caller's transaction, which only reads.

    Raises:
        InvalidField: one took longer.
    """
    values = {"milliseconds": round(longest / timedelta(milliseconds=1))}
    try:
        await fetch.run(conn, sql.BOUND_STATS_STATEMENTS, values)
        yield
    except QueryCanceled:
        raise InvalidField("from", "there are too many counts in it: use less time") from None


async def is_zone(conn: Conn, name: str) -> bool:
    """Return whether there is a time zone of that name."""
    return await fetch.value(conn, sql.IS_STATS_ZONE, {"zone": name}, bool)


async def zone_of(conn: Conn, project_id: UUID | None) -> str:
    """Return the time zone of a project; UTC for all projects."""
    return await fetch.value(conn, sql.READ_STATS_ZONE, {"project_id": project_id}, str)


async def spans(conn: Conn, span: TimeSpan, bucket: Bucket) -> list[SpanStart]:
    """Return the starts of the spans of a time, and the end of the last."""
    values = {
        "since": span.since,
        "until": span.until,
        "bucket": bucket.value,
        "zone": span.time_zone,
    }
    return await fetch.many(conn, sql.LIST_STATS_SPANS, values, SpanStart)


async def read(
    conn: Conn,
    scope: StatsScope,
    dimension: str,
    starts: Sequence[datetime],
    *,
    value: str | None = None,
    by_minute: bool = False,
) -> list[CountsRow]:
    """Return counts by span and value of a dimension, of one value of it or of all."""
    asked = _asked(scope, dimension, starts, by_minute) | {"value": value}
    return await fetch.many(conn, sql.READ_STATS, asked, CountsRow)


async def read_scope(
    conn: Conn, scope: StatsScope, starts: Starts, *, by_minute: bool = False
) -> list[CountsRow]:
    """Return the counts of a scope by span."""
    dimension = TOTAL if scope.dimension is None else scope.dimension.value
    value = "" if scope.dimension is None else scope.value
    instants = [one.started_at for one in starts]
    return await read(conn, scope, dimension, instants, value=value, by_minute=by_minute)


async def read_series(
    conn: Conn,
    scope: StatsScope,
    dimension: str,
    starts: Sequence[datetime],
    *,
    metric: str,
    most: int,
    by_minute: bool = False,
) -> list[SummedRow]:
    """Return one count by span of the values with the highest sums, and of all others together."""
    asked = _asked(scope, dimension, starts, by_minute) | {"metric": metric, "most": most}
    return await fetch.many(conn, sql.READ_STATS_SERIES, asked, SummedRow)


def _asked(
    scope: StatsScope,
    dimension: str,
    starts: Sequence[datetime],
    by_minute: bool,
) -> dict[str, object]:
    return {
        "project_id": scope.project_id,
        "is_test": scope.is_test,
        "dimension": dimension,
        "starts": list(starts),
        "by_minute": by_minute,
    }


async def sent_by_account(
    conn: Conn,
    projects: Sequence[UUID],
    since: datetime,
    until: datetime,
    *,
    is_test: bool,
) -> list[SentRow]:
    """Return what each sender account of some projects sent."""
    values = {
        "projects": arrays.uuids(projects),
        "is_test": is_test,
        "since": since,
        "until": until,
    }
    return await fetch.many(conn, sql.READ_STATS_SENT, values, SentRow)


async def latency(conn: Conn, scope: StatsScope, span: TimeSpan) -> list[LatencyRow]:
    """Return the response times of each sender account."""
    values = {
        "project_id": scope.project_id,
        "is_test": scope.is_test,
        "since": span.since,
        "until": span.until,
    }
    return await fetch.many(conn, sql.READ_STATS_LATENCY, values, LatencyRow)


async def accounts(conn: Conn, project_id: UUID | None) -> list[AccountRow]:
    """Return the sender accounts with counts, also those that were removed."""
    return await fetch.many(conn, sql.LIST_STATS_ACCOUNTS, {"project_id": project_id}, AccountRow)


async def template_names(conn: Conn, ids: Sequence[UUID]) -> list[CountedTemplate]:
    """Return templates by id; their version is 0."""
    return await fetch.many(conn, sql.LIST_STATS_TEMPLATES, {"ids": list(ids)}, CountedTemplate)


async def test_names(conn: Conn, ids: Sequence[UUID]) -> dict[str, str]:
    """Return the names of A/B tests by id."""
    return await fetch.value(conn, sql.READ_STATS_TESTS, {"ids": list(ids)}, dict)


async def version_names(conn: Conn, template_id: UUID) -> list[CountedTemplate]:
    """Return the versions of a template, newest first."""
    return await fetch.many(
        conn, sql.LIST_STATS_VERSIONS, {"template_id": template_id}, CountedTemplate
    )


async def find_template(conn: Conn, project_id: UUID, name: str) -> CountedTemplate | None:
    """Return a template that a project can use, by id or slug."""
    values = {"project_id": project_id, "name": name}
    return await fetch.maybe(conn, sql.FIND_STATS_TEMPLATE, values, CountedTemplate)


async def urls(conn: Conn, project_id: UUID, links: Sequence[str]) -> dict[str, str]:
    """Return where links lead, by their name in counts."""
    values = {"project_id": project_id, "links": list(links)}
    return {
        one.link: one.url for one in await fetch.many(conn, sql.LIST_STATS_LINKS, values, LinkUrl)
    }


async def verify(
    conn: Conn, since: datetime, until: datetime, *, limit: int
) -> list[DifferenceRow]:
    """Compare the counts of a time with history."""
    values = {"since": since, "until": until, "limit": limit}
    return await fetch.many(conn, sql.VERIFY_STATS, values, DifferenceRow)


async def rebuild(conn: Conn, since: datetime | None, *, by: str) -> datetime:
    """Begin to count anew from a day on; return its start.

    Raises:
        InvalidField: history is not complete since then, or another such count is not finished.
    """
    with refusals(otherwise="from"):
        async with conn.transaction():
            return await fetch.value(conn, sql.REBUILD_STATS, {"since": since, "by": by}, datetime)


async def complete_since(conn: Conn) -> datetime:
    """Return since when history is complete."""
    return await fetch.value(conn, sql.READ_STATS_COMPLETE_SINCE, {}, datetime)


async def progress(conn: Conn) -> ProgressRow:
    """Return how far counting has come."""
    return await fetch.one(conn, sql.READ_STATS_PROGRESS, {}, ProgressRow)
