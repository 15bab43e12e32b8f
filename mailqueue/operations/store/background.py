"""SQL of operations that workers carry out."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from psycopg.errors import ObjectInUse
from psycopg.types.json import Jsonb

from mailqueue.contract.background import BackgroundOperation, MatchingEmail
from mailqueue.core.errors import Conflict
from mailqueue.core.mailboxes import with_wire_domains
from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.operations import background as sql


@dataclass(frozen=True, slots=True)
class OperationPreview:
    """How many mails an operation would change, and the ids of some.

    `is_complete` False: counting stopped at a bound, and there may be more.
    """

    emails: int
    searched: int
    is_complete: bool
    examples: list[UUID]


async def begin(
    conn: Conn,
    project_id: UUID,
    *,
    verb: str,
    where: Mapping[str, str],
    reason: str,
    by: str,
    to: str | None = None,
) -> UUID:
    """Begin an operation; return its id.

    Raises:
        InvalidField: a field is invalid.
        Conflict: the project has too many operations that are not finished.
    """
    asked = _asked(project_id, verb, where, to) | {"reason": reason, "by": by}
    try:
        with refusals():
            return await fetch.value(conn, sql.BEGIN_BULK_OPERATION, asked, UUID)
    except ObjectInUse as exc:
        raise Conflict(exc.diag.message_primary or str(exc)) from exc


async def stop(conn: Conn, project: str, operation_id: UUID, *, by: str) -> bool:
    """Request that an operation stops; return False where it is over or stops already."""
    asked = {"project": project, "id": operation_id, "by": by}
    return await fetch.value(conn, sql.STOP_BULK_OPERATION, asked, bool)


async def preview(
    conn: Conn,
    project_id: UUID,
    *,
    verb: str,
    where: Mapping[str, str],
    max_emails: int,
    max_searched: int,
    examples: int,
    to: str | None = None,
) -> OperationPreview:
    """Count the mails that an operation would change.

    Raises:
        InvalidField: a field is invalid.
    """
    asked = _asked(project_id, verb, where, to) | {
        "max_emails": max_emails,
        "max_searched": max_searched,
        "examples": examples,
    }
    with refusals():
        return await fetch.one(conn, sql.PREVIEW_BULK_OPERATION, asked, OperationPreview)


async def examples_of(conn: Conn, project_id: UUID, ids: list[UUID]) -> list[MatchingEmail]:
    """Return mails by id, oldest first."""
    asked = {"project_id": project_id, "ids": arrays.uuids(ids)}
    return await fetch.many(conn, sql.LIST_OPERATION_EXAMPLES, asked, MatchingEmail)


async def page(
    conn: Conn, project_id: UUID | None, *, before: UUID | None, limit: int
) -> list[BackgroundOperation]:
    """Return operations of a project, or of all, newest first."""
    asked = {"project_id": project_id, "before": before, "limit": limit}
    return await fetch.many(conn, sql.LIST_BULK_OPERATIONS, asked, BackgroundOperation)


async def find(
    conn: Conn, project_id: UUID | None, operation_id: UUID
) -> BackgroundOperation | None:
    """Return an operation, or None if there is none."""
    asked = {"project_id": project_id, "id": operation_id}
    return await fetch.maybe(conn, sql.FIND_BULK_OPERATION, asked, BackgroundOperation)


async def find_cancellation(
    conn: Conn, project_id: UUID, campaign: str
) -> BackgroundOperation | None:
    """Return the newest operation that cancels all mail of a campaign, or None; it is looked for
    among the 10,000 newest ones.
    """
    asked = {"project_id": project_id, "campaign": campaign}
    return await fetch.maybe(conn, sql.FIND_CAMPAIGN_CANCELLATION, asked, BackgroundOperation)


async def step(
    conn: Conn, operation_id: UUID, *, claim_no: int, searched: int, changed: int
) -> str:
    """Search at most so many queued mails for an operation, and change at most so many.

    Returns the state of the operation afterwards.

    Raises:
        InvalidField: the filter names what there is no more.
    """
    asked = {"id": operation_id, "claim_no": claim_no, "searched": searched, "changed": changed}
    with refusals():
        return await fetch.value(conn, sql.CONTINUE_BULK_OPERATION, asked, str)


async def end(conn: Conn, operation_id: UUID, *, state: str, error: str | None) -> None:
    """Insert the audit event of the end of an operation."""
    await fetch.run(
        conn, sql.END_BULK_OPERATION, {"id": operation_id, "state": state, "error": error}
    )


def _asked(
    project_id: UUID, verb: str, where: Mapping[str, str], to: str | None
) -> dict[str, object]:
    return {
        "project_id": project_id,
        "verb": verb,
        "filter": Jsonb(with_wire_domains(where)),
        "to": to,
    }
