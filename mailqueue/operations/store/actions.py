"""SQL of operators' actions on mail."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from psycopg.errors import ObjectInUse
from psycopg.types.json import Jsonb

from mailqueue.contract.operations import ActionResult, Pause
from mailqueue.core.errors import Conflict
from mailqueue.core.mailboxes import wire_domain, with_wire_domains
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.mail import batches as batches_sql
from mailqueue.db.statements.operations import actions as actions_sql


@dataclass(frozen=True, slots=True)
class EmailPlace:
    """A mail and its project."""

    id: UUID
    project_id: UUID
    project: str
    status: str


@dataclass(frozen=True, slots=True)
class ChangedBatch:
    """One batch of an operation; `next_after` None: the pass is complete."""

    done: int
    next_after: UUID | None


@dataclass(frozen=True, slots=True)
class RestoredBatch:
    """One batch of mail held after a restore; `operation` None for a trial."""

    held: int
    operation: int | None
    next_after: UUID | None


class ActedOn(NamedTuple):
    """Result of an action on a mail; `outcome` None: its state does not allow it."""

    outcome: str | None
    email_id: UUID
    state: str


async def act_on_email(
    conn: Conn, email_id: UUID, *, project_id: UUID, action: str, reason: str | None, by: str
) -> ActedOn | None:
    """Cancel, hold, release, resend or resolve a mail; return None if there is no such mail."""
    asked = {"id": email_id, "project_id": project_id, "action": action, "reason": reason}
    with refusals():
        return await fetch.maybe(conn, batches_sql.ACT_ON_EMAIL, asked | {"by": by}, ActedOn)


async def suppressed_recipients(conn: Conn, email_id: UUID, *, project_id: UUID) -> list[str]:
    """Return the recipients of a mail that cannot be sent again, as all of them are suppressed."""
    asked = {"id": email_id, "project_id": project_id}
    return await fetch.many(conn, actions_sql.LIST_SUPPRESSED_RECIPIENTS, asked, str)


async def move(
    conn: Conn, email_id: UUID, *, project_id: UUID, sender: str | None, reason: str, by: str
) -> ActedOn | None:
    """Send a mail by another account, or any for None; return None if there is no such mail."""
    asked = {"id": email_id, "project_id": project_id, "sender": sender, "reason": reason}
    with refusals():
        return await fetch.maybe(conn, batches_sql.MOVE_EMAIL, asked | {"by": by}, ActedOn)


async def note_view(conn: Conn, project_id: UUID, *, email_id: UUID, part: str) -> None:
    """Insert an audit event: the actor of the transaction looked at a part of an email."""
    asked = {"project_id": project_id, "subject": f"email {email_id}", "part": part}
    await fetch.run(conn, actions_sql.NOTE_VIEW, asked)


async def places(conn: Conn, ids: list[UUID]) -> list[EmailPlace]:
    """Return the projects of mails."""
    return await fetch.many(conn, actions_sql.FIND_EMAIL_PROJECTS, {"ids": ids}, EmailPlace)


async def cancel(
    conn: Conn, project_id: UUID, *, ids: list[UUID], reason: str
) -> list[ActionResult]:
    """Cancel unfinished mails."""
    asked = {"project_id": project_id, "ids": ids, "reason": reason}
    return await fetch.many(conn, actions_sql.CANCEL_EMAIL, asked, ActionResult)


async def hold(conn: Conn, project_id: UUID, *, ids: list[UUID], reason: str) -> list[ActionResult]:
    """Hold pending mails."""
    asked = {"project_id": project_id, "ids": ids, "reason": reason}
    return await fetch.many(conn, actions_sql.HOLD_EMAIL, asked, ActionResult)


async def release(conn: Conn, project_id: UUID, *, ids: list[UUID]) -> list[ActionResult]:
    """Return held mails to their lanes."""
    return await fetch.many(
        conn, actions_sql.RELEASE_EMAIL, {"project_id": project_id, "ids": ids}, ActionResult
    )


async def reschedule(
    conn: Conn, project_id: UUID, *, ids: list[UUID], at: datetime
) -> list[ActionResult]:
    """Change when mails without an attempt are sent.

    Raises:
        InvalidField: the time is more than ten years ahead.
    """
    asked = {"project_id": project_id, "ids": ids, "at": at}
    with _refusals():
        return await fetch.many(conn, actions_sql.RESCHEDULE_EMAILS, asked, ActionResult)


async def requeue(conn: Conn, project_id: UUID, *, ids: list[UUID]) -> list[ActionResult]:
    """Queue finished mails that were not sent again."""
    return await fetch.many(
        conn, actions_sql.REQUEUE_EMAIL, {"project_id": project_id, "ids": ids}, ActionResult
    )


async def still_suppressed(conn: Conn, project_id: UUID, *, ids: list[UUID]) -> list[ActionResult]:
    """Return the mails whose recipients are all suppressed now, each with the reason."""
    asked = {"project_id": project_id, "ids": ids}
    return await fetch.many(conn, actions_sql.FIND_STILL_SUPPRESSED, asked, ActionResult)


async def resend(
    conn: Conn, project_id: UUID, *, ids: list[UUID], reason: str
) -> list[ActionResult]:
    """Queue sent mails again, as new ones."""
    asked = {"project_id": project_id, "ids": ids, "reason": reason}
    return await fetch.many(conn, actions_sql.RESEND_EMAIL, asked, ActionResult)


async def reprioritise(
    conn: Conn, project_id: UUID, *, ids: list[UUID], priority: int
) -> list[ActionResult]:
    """Move unfinished mails to other lanes; `priority` 0 critical to 3 low."""
    asked = {"project_id": project_id, "ids": ids, "priority": priority}
    return await fetch.many(conn, actions_sql.REPRIORITISE_EMAIL, asked, ActionResult)


async def resolve(
    conn: Conn, project_id: UUID, *, ids: list[UUID], was_sent: bool, note: str | None, by: str
) -> list[ActionResult]:
    """Resolve mails in doubt."""
    asked = {"project_id": project_id, "ids": ids, "was_sent": was_sent, "note": note, "by": by}
    with _refusals():
        return await fetch.many(conn, actions_sql.RESOLVE_EMAIL, asked, ActionResult)


async def record(
    conn: Conn,
    project_id: UUID,
    *,
    action: str,
    subject: str,
    detail: Mapping[str, object],
    by: str,
) -> int:
    """Insert an audit event; return its number."""
    asked = {
        "project_id": project_id,
        "action": action,
        "subject": subject,
        "detail": Jsonb(detail),
        "by": by,
    }
    return await fetch.value(conn, actions_sql.RECORD_OPERATION, asked, int)


async def count_matching(
    conn: Conn, verb: str, *, where: Mapping[str, str], argument: Mapping[str, str]
) -> int:
    """Return the number of matching mails; InvalidField names an invalid field."""
    asked = {"verb": verb, "filter": Jsonb(with_wire_domains(where)), "argument": Jsonb(argument)}
    with _refusals():
        return await fetch.value(conn, actions_sql.COUNT_MATCHING, asked, int)


async def begin(
    conn: Conn, verb: str, *, where: Mapping[str, str], argument: Mapping[str, str], by: str
) -> int:
    """Begin an operation; return its number."""
    asked = {
        "verb": verb,
        "filter": Jsonb(with_wire_domains(where)),
        "argument": Jsonb(argument),
        "by": by,
    }
    with _refusals():
        return await fetch.value(conn, actions_sql.BEGIN_OPERATION, asked, int)


async def go_on(conn: Conn, operation: int, *, after: UUID | None, limit: int) -> ChangedBatch:
    """Apply an operation to its next batch."""
    asked = {"operation": operation, "after": after, "most": limit}
    return await fetch.one(conn, actions_sql.CONTINUE_OPERATION, asked, ChangedBatch)


async def accept_restored(conn: Conn, *, by: str) -> int:
    """Send from this database without holding mail; return the operation.

    Raises:
        Conflict: a worker runs.
    """
    with _refusals():
        return await fetch.value(conn, actions_sql.ACCEPT_RESTORED, {"by": by}, int)


async def hold_restored(
    conn: Conn,
    since: datetime,
    *,
    is_trial: bool,
    limit: int,
    operation: int | None,
    after: UUID | None,
    by: str,
) -> RestoredBatch:
    """Hold a batch of mail that may have been sent since; Conflict names a running worker."""
    asked = {
        "since": since,
        "is_trial": is_trial,
        "most": limit,
        "operation": operation,
        "after": after,
        "by": by,
    }
    with _refusals():
        return await fetch.one(conn, actions_sql.HOLD_RESTORED, asked, RestoredBatch)


async def pause(
    conn: Conn,
    project: str,
    *,
    kind: str,
    name: str,
    until: datetime | timedelta | None,
    reason: str | None,
    by: str,
) -> int:
    """Pause mail; return the number of the operation."""
    asked = {
        "project": project,
        "kind": kind,
        "name": wire_domain(name) if kind == "domain" else name,
        "until": until if isinstance(until, datetime) else None,
        "wait": until if isinstance(until, timedelta) else None,
        "reason": reason,
        "by": by,
    }
    with _refusals():
        return await fetch.value(conn, actions_sql.PAUSE_SENDING, asked, int)


async def resume(conn: Conn, project: str, *, kind: str, name: str, by: str) -> bool:
    """End a pause; return False when there was none."""
    wanted = wire_domain(name) if kind == "domain" else name
    asked = {"project": project, "kind": kind, "name": wanted, "by": by}
    with _refusals():
        return await fetch.value(conn, actions_sql.RESUME_SENDING, asked, bool)


async def pauses(conn: Conn, project: str | None) -> list[Pause]:
    """Return the current pauses; None: those of every project."""
    return await fetch.many(conn, actions_sql.LIST_PAUSES, {"project": project}, Pause)


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        with refusals():
            yield
    except ObjectInUse as exc:
        raise Conflict(exc.diag.message_primary or str(exc)) from exc


async def note_act(
    conn: Conn, project_id: UUID, *, action: str, subject: str, detail: Mapping[str, object]
) -> None:
    """Write an audit row for what the actor of the transaction did."""
    act = {"action": action, "subject": subject, "detail": Jsonb(dict(detail))}
    await fetch.run(conn, actions_sql.NOTE_ACT, {"project_id": project_id, **act})
