"""Operations on single mails, with an audit: explain, cancel, hold, release, move, requeue, resend,
resolve.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from uuid import UUID

from mailqueue.contract.emails import OperatorEmail
from mailqueue.contract.operations import ActionResult
from mailqueue.contract.value import named
from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.mail.reads import emails as reads
from mailqueue.operations.model import PRIORITIES
from mailqueue.operations.store import actions as actions_store
from mailqueue.operations.store import overview as overview_store
from mailqueue.operations.store.actions import EmailPlace

Act = Callable[[UUID, list[UUID]], Awaitable[list[ActionResult]]]


@dataclass(frozen=True, slots=True)
class EmailOperation:
    """The actor, reason and mails of one operation; a trial is rolled back."""

    ids: Sequence[UUID]
    by: str
    is_trial: bool = False


@dataclass(frozen=True, slots=True)
class _Deed:
    """The record of an operation in the audit."""

    action: str
    act: Act
    detail: Mapping[str, object] = field(default_factory=dict)
    is_sent_again: bool = False
    """Whether mail whose recipients are all suppressed is left out."""


async def explain(conn: Conn, email_id: UUID) -> OperatorEmail:
    """Return an email of any project with the reason for its state, its attempts and events.

    Raises:
        NotFound: there is no such mail; the message names the archive if it may be there.
    """
    for place in await actions_store.places(conn, [email_id]):
        email = await reads.find(conn, email_id, project_id=place.project_id)
        shown = named(email) | {
            "attempts": await overview_store.attempts(conn, email_id),
            "has_more_attempts": False,
        }
        return OperatorEmail(**shown, project=place.project)
    raise NotFound("email", email_id, await overview_store.archived(conn, email_id))


async def cancel(conn: Conn, operation: EmailOperation, *, reason: str) -> list[ActionResult]:
    """Cancel unfinished mails; return a line for each id, in order."""

    async def act(project: UUID, ids: list[UUID]) -> list[ActionResult]:
        return await actions_store.cancel(conn, project, ids=ids, reason=reason)

    return await _handle(conn, operation, _Deed("emails.cancelled", act, {"reason": reason}))


async def hold(conn: Conn, operation: EmailOperation, *, reason: str) -> list[ActionResult]:
    """Hold pending mails until they are released."""

    async def act(project: UUID, ids: list[UUID]) -> list[ActionResult]:
        return await actions_store.hold(conn, project, ids=ids, reason=reason)

    return await _handle(conn, operation, _Deed("emails.held", act, {"reason": reason}))


async def release(conn: Conn, operation: EmailOperation) -> list[ActionResult]:
    """Return held mails to their lanes."""

    async def act(project: UUID, ids: list[UUID]) -> list[ActionResult]:
        return await actions_store.release(conn, project, ids=ids)

    return await _handle(conn, operation, _Deed("emails.released", act))


async def reschedule(conn: Conn, operation: EmailOperation, *, at: datetime) -> list[ActionResult]:
    """Change when pending or held mails without an attempt are sent."""

    async def act(project: UUID, ids: list[UUID]) -> list[ActionResult]:
        return await actions_store.reschedule(conn, project, ids=ids, at=at)

    return await _handle(
        conn, operation, _Deed("emails.rescheduled", act, {"run_at": at.isoformat()})
    )


async def move(
    conn: Conn, operation: EmailOperation, *, sender: str | None, reason: str
) -> list[ActionResult]:
    """Let the sender account of a name, or any for None, send pending or held mails."""
    found = await actions_store.places(conn, list(operation.ids))
    results = dict.fromkeys(operation.ids, "unknown")
    async with conn.transaction(force_rollback=operation.is_trial):
        for place in found:
            acted = await actions_store.move(
                conn,
                place.id,
                project_id=place.project_id,
                sender=sender,
                reason=reason,
                by=operation.by,
            )
            results[place.id] = (acted and acted.outcome) or f"unchanged: {place.status}"
    reach("hand.committed")
    return [ActionResult(email_id, result) for email_id, result in results.items()]


async def requeue(conn: Conn, operation: EmailOperation) -> list[ActionResult]:
    """Queue finished mails that were not sent again, with the same ids."""

    async def act(project: UUID, ids: list[UUID]) -> list[ActionResult]:
        return await actions_store.requeue(conn, project, ids=ids)

    return await _handle(conn, operation, _Deed("emails.requeued", act, is_sent_again=True))


async def resend(conn: Conn, operation: EmailOperation, *, reason: str) -> list[ActionResult]:
    """Queue sent and suppressed mails again, each as a new mail whose id the line has."""

    async def act(project: UUID, ids: list[UUID]) -> list[ActionResult]:
        return await actions_store.resend(conn, project, ids=ids, reason=reason)

    deed = _Deed("emails.resent", act, {"reason": reason}, is_sent_again=True)
    return await _handle(conn, operation, deed)


async def reprioritise(
    conn: Conn, operation: EmailOperation, *, priority: str
) -> list[ActionResult]:
    """Move unfinished mails to the lanes of another priority."""

    async def act(project: UUID, ids: list[UUID]) -> list[ActionResult]:
        place = PRIORITIES.index(priority)
        return await actions_store.reprioritise(conn, project, ids=ids, priority=place)

    return await _handle(
        conn, operation, _Deed("emails.reprioritised", act, {"priority": priority})
    )


async def resolve(
    conn: Conn, operation: EmailOperation, *, was_sent: bool, note: str | None
) -> list[ActionResult]:
    """Resolve mails that are held because it is not known whether they were sent."""

    async def act(project: UUID, ids: list[UUID]) -> list[ActionResult]:
        return await actions_store.resolve(
            conn, project, ids=ids, was_sent=was_sent, note=note, by=operation.by
        )

    detail = {"was_sent": was_sent, "note": note}
    return await _handle(conn, operation, _Deed("emails.resolved", act, detail))


async def _handle(conn: Conn, operation: EmailOperation, deed: _Deed) -> list[ActionResult]:
    """Run an operation in one transaction; an unchanged mail is reported as `unchanged:
    <status>`, with the reason where it cannot be sent again.
    """
    wanted = list(dict.fromkeys(operation.ids))
    async with conn.transaction(force_rollback=operation.is_trial):
        found = await actions_store.places(conn, wanted)
        done: dict[UUID, str] = {}
        suppressed: dict[UUID, str] = {}
        for (project_id, project), places in groupby(sorted(found, key=_project), key=_project):
            ids = [place.id for place in places]
            handled = await deed.act(project_id, ids)
            done |= {each.id: each.result for each in handled}
            if deed.is_sent_again:
                left = await actions_store.still_suppressed(conn, project_id, ids=ids)
                suppressed |= {each.id: each.result for each in left}
            if handled:
                await actions_store.record(
                    conn,
                    project_id,
                    action=deed.action,
                    subject=f"project {project}",
                    detail={
                        "filter": {"project": project, "ids": [str(each.id) for each in handled]},
                        "emails": len(handled),
                        **deed.detail,
                    },
                    by=operation.by,
                )
    reach("hand.committed")
    unchanged = {place.id: f"unchanged: {_why(place, deed, suppressed)}" for place in found}
    results = dict.fromkeys(wanted, "unknown") | unchanged | done
    return [ActionResult(email_id, results[email_id]) for email_id in wanted]


def _why(place: EmailPlace, deed: _Deed, suppressed: Mapping[UUID, str]) -> str:
    """Return why a mail was left unchanged."""
    if reason := suppressed.get(place.id):
        return f"{place.status}, and its recipients are suppressed ({reason})"
    if place.status == "suppressed" and deed.action == "emails.requeued":
        return "suppressed; `mailqueue email resend` sends it as a new email"
    return place.status


def _project(place: EmailPlace) -> tuple[UUID, str]:
    return place.project_id, place.project
