"""Operations on all mail of a project that matches a filter, carried out by workers."""

from collections.abc import Mapping
from enum import StrEnum
from uuid import UUID

from mailqueue.contract.background import BackgroundOperation, MatchCount
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.operations.store import background as store

MAX_COUNTED = 100_000
"""Emails that a count counts; beyond, it says that there are more."""
MAX_SEARCHED = 500_000
"""Emails that a count searches: queued ones of all projects, or finished ones of one."""
EXAMPLES = 10
"""Emails that a count shows."""
MAX_REASON = 500
"""Maximum length in characters of a reason."""
FILTERS = (
    "subject",
    "campaign_id",
    "tag",
    "domain",
    "category",
    "lane",
    "sender",
    "batch",
    "status",
    "older_than",
    "newer_than",
)
"""The conditions that a filter may have."""


class OperationVerb(StrEnum):
    """What is done with the emails that match."""

    HOLD = "hold"
    RELEASE = "release"
    CANCEL = "cancel"
    REQUEUE = "requeue"
    MOVE = "move"


async def count(
    conn: Conn,
    project_id: UUID,
    *,
    verb: OperationVerb,
    where: Mapping[str, str],
    to: str | None = None,
) -> MatchCount:
    """Return how many emails an operation would change now, with the first of them.

    `to`: the sender account of a move; None: any of the project.

    Raises:
        InvalidField: a field is invalid.
    """
    _check_domain(where)
    found = await store.preview(
        conn,
        project_id,
        verb=verb,
        where=where,
        max_emails=MAX_COUNTED,
        max_searched=MAX_SEARCHED,
        examples=EXAMPLES,
        to=to,
    )
    shown = await store.examples_of(conn, project_id, found.examples) if found.examples else []
    return MatchCount(found.emails, found.is_complete, found.searched, shown)


async def begin(
    conn: Conn,
    project_id: UUID,
    *,
    verb: OperationVerb,
    where: Mapping[str, str],
    reason: str,
    by: str,
    to: str | None = None,
) -> BackgroundOperation:
    """Begin an operation, in the caller's transaction; workers carry it out.

    `to`: the sender account of a move; None: any of the project.

    Raises:
        InvalidField: a field is invalid.
        Conflict: the project has 100 operations that are not finished.
    """
    _check_domain(where)
    made = await store.begin(conn, project_id, verb=verb, where=where, reason=reason, by=by, to=to)
    return await find(conn, project_id, made)


async def stop(
    conn: Conn, project_id: UUID | None, operation_id: UUID, *, by: str
) -> BackgroundOperation:
    """Stop an operation after its current batch, in the caller's transaction.

    `project_id` None: of any project. What the operation has changed stays changed.

    Raises:
        NotFound: there is no such operation.
        Conflict: it is over.
    """
    found = await find(conn, project_id, operation_id)
    if found.finished_at is not None:
        raise Conflict(f"operation {operation_id} is over: {found.state}")
    await store.stop(conn, found.project, operation_id, by=by)
    return await find(conn, project_id, operation_id)


async def find(conn: Conn, project_id: UUID | None, operation_id: UUID) -> BackgroundOperation:
    """Return an operation of a project; None: of any.

    Raises:
        NotFound: there is no such operation.
    """
    found = await store.find(conn, project_id, operation_id)
    if found is None:
        raise NotFound("operation", operation_id)
    return found


async def page(
    conn: Conn, project_id: UUID | None, *, before: UUID | None = None, limit: int
) -> list[BackgroundOperation]:
    """Return operations of a project, newest first; None: of all projects."""
    return await store.page(conn, project_id, before=before, limit=limit)


async def find_cancellation(
    conn: Conn, project_id: UUID, campaign: str
) -> BackgroundOperation | None:
    """Return the newest operation that cancels all mail of a campaign, None if there is none."""
    return await store.find_cancellation(conn, project_id, campaign)


def _check_domain(where: Mapping[str, str]) -> None:
    if "domain" not in where:
        return
    try:
        parse_address(f"postmaster@{where['domain'].removeprefix('@')}")
    except InvalidAddress:
        raise InvalidField("domain", "must be a domain such as example.com") from None
