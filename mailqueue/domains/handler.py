"""The handler of queue `domains`: look a domain that keys sign for up in DNS once a day.

The lookups hold no transaction and no connection. Their result is written with the row's next time.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from mailqueue.contract.domains import DkimKeyStatus, FindingStatus
from mailqueue.core.errors import Unavailable
from mailqueue.core.outcome import Again, Defer, Outcome
from mailqueue.db.fetch import Conn
from mailqueue.domains import checking, store
from mailqueue.domains.findings import DomainFindings
from mailqueue.domains.model import DkimKey
from mailqueue.domains.resolver import Resolver
from mailqueue.queue.handler import Handler

CHECK_WAIT = timedelta(days=1)
"""Time between two checks of a domain."""
UNANSWERED_WAIT = timedelta(hours=1)
"""The same where no name server answered some lookup."""
ALL_SECONDS = 45.0
"""Seconds for all lookups of a domain; those of its policies may lead to many slow servers."""
_NONE = {"checked_at": None, "dkim": None, "spf": None, "dmarc": None}


class DomainDue(NamedTuple):
    """A claimed row of domain_rechecks."""

    id: UUID
    claim_no: int
    project_id: UUID
    domain: str
    keys: tuple[DkimKey, ...] = ()
    """Its keys that have or had a record; one that waits for its first record has none to lose."""


class DomainHandler(Handler[DomainDue, DomainFindings]):
    """Checks DKIM, SPF, DMARC and MX of domains that a key signs for."""

    row = DomainDue

    def __init__(
        self, make_resolver: Callable[[], Resolver], *, all_s: float = ALL_SECONDS
    ) -> None:
        """Prepare; `make_resolver` raises Unavailable on a host without name servers."""
        self._make_resolver = make_resolver
        self._all_s = all_s

    async def load(self, conn: Conn, rows: Sequence[DomainDue]) -> Sequence[DomainDue]:
        found: dict[tuple[UUID, str], list[DkimKey]] = {}
        for key in await store.list_keys_of(conn, [(row.project_id, row.domain) for row in rows]):
            found.setdefault((key.project_id, key.domain), []).append(key)
        return [
            row._replace(keys=tuple(found.get((row.project_id, row.domain), ()))) for row in rows
        ]

    async def handle(self, row: DomainDue) -> Outcome | DomainFindings:
        if not any(key.status is DkimKeyStatus.ACTIVE for key in row.keys):
            return Again(CHECK_WAIT, values=_NONE)
        try:
            resolver = self._make_resolver()
            looking = checking.look(row.domain, list(row.keys), resolver)
            found = await asyncio.wait_for(looking, self._all_s)
        except Unavailable as exc:
            return Defer(str(exc), UNANSWERED_WAIT)
        except TimeoutError:
            values = {"checked_at": datetime.now(UTC).isoformat()}
            values |= dict.fromkeys(("dkim", "spf", "dmarc"), FindingStatus.UNKNOWN.value)
            reason = f"the lookups did not end within {self._all_s:g} seconds"
            return Again(UNANSWERED_WAIT, values=values, reason=reason)
        return DomainFindings(row.keys[0].project, row.domain, found)

    def is_answered(self, result: Outcome | DomainFindings) -> bool:
        if isinstance(result, DomainFindings):
            return not _is_unanswered(result)
        return isinstance(result, Again) and result.reason is None

    async def commit(
        self, conn: Conn, done: Sequence[tuple[DomainDue, DomainFindings]]
    ) -> Sequence[Outcome]:
        await store.record_checks(conn, [(row.project_id, found) for row, found in done])
        return [
            Again(UNANSWERED_WAIT if _is_unanswered(found) else CHECK_WAIT) for _, found in done
        ]


def _is_unanswered(found: DomainFindings) -> bool:
    return any(each.status is FindingStatus.UNKNOWN for each in found.findings)
