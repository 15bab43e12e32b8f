"""Find the records old enough to be archived, by kind, month and project."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import date, timedelta

from mailqueue.db.fetch import Conn
from mailqueue.maintenance.model import TABLE_BY_KIND, DueMonth, RecordKind
from mailqueue.maintenance.months import month_of, next_month
from mailqueue.maintenance.store import records as records_store
from mailqueue.maintenance.store import tasks as tasks_store


@dataclass(frozen=True, slots=True)
class DueRecords:
    """The records of one kind, month and project."""

    kind: RecordKind
    month: date
    due: DueMonth


async def leaving(conn: Conn) -> AsyncIterator[DueRecords]:
    """Yield what is old enough, oldest months first; mails before the contents they use."""
    stays = await tasks_store.shortest_stays(conn)
    today = await tasks_store.today(conn)
    for partition in await tasks_store.partitions(conn):
        if partition.state != "attached":
            continue
        for kind in RecordKind:
            if TABLE_BY_KIND[kind] != partition.parent or kind not in stays:
                continue
            if next_month(partition.month) > today - timedelta(days=stays[kind]):
                continue
            span = month_of(partition.month)
            for due in await records_store.find_due(conn, kind, span=span):
                yield DueRecords(kind, partition.month, due)
