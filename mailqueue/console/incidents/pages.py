"""Hold, release, cancel, move or send again all emails that match: count first, then act once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from uuid import UUID

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.incidents.filters import (
    CONDITIONS,
    NAMES,
    OperationForm,
    conditions_of,
    read_operation,
)
from mailqueue.contract.background import BackgroundOperation, MatchCount
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.operations import background
from mailqueue.operations.background import MAX_COUNTED, MAX_REASON, OperationVerb
from mailqueue.operations.model import PRIORITIES
from mailqueue.senders import accounts
from mailqueue.web.forms import uuid_of
from mailqueue.web.rendering import sentence

PATH = "/console/projects/{project}/incidents"
OPERATION = f"{PATH}/operations/{{operation_id}}"
PAGE_ROWS = 20
"""Operations on one page."""
RUNNING = frozenset({"waiting", "running", "stopping"})
"""States of an operation whose page looks for changes."""


@dataclass(frozen=True, slots=True)
class IncidentAction:
    """What an operation does, and its consequence in words."""

    label: str
    past: str
    consequence: str
    is_destructive: bool = False
    takes: str = "email that waits"
    """What it takes, for a page on which nothing matches."""


ACTS: Mapping[OperationVerb, IncidentAction] = {
    OperationVerb.HOLD: IncidentAction(
        "Hold",
        "held",
        "Pending emails that match are not sent until they are released. Emails that a worker is "
        "sending now may still be delivered, and emails that are accepted from now on are not "
        "held: pause the campaign, the domain or the project to stop those too.",
    ),
    OperationVerb.RELEASE: IncidentAction(
        "Release",
        "released",
        "Held emails that match are sent as soon as the limits allow, and do not expire within a "
        "day from now. That includes emails that were held for another reason: one whose outcome "
        "is unknown may then arrive twice.",
    ),
    OperationVerb.CANCEL: IncidentAction(
        "Cancel",
        "cancelled",
        "Emails that match and were not sent yet, held ones included, are never sent. Each can be "
        "sent again from its own page, but there is no way to undo it for all of them.",
        is_destructive=True,
    ),
    OperationVerb.MOVE: IncidentAction(
        "Move",
        "moved",
        "Pending and held emails that match wait for that sender account instead of their own, "
        "and held ones stay held. Emails that a worker is sending now, emails of test keys and "
        "those for a custom SMTP server stay where they are; so do emails that are accepted from "
        "now on.",
    ),
    OperationVerb.REQUEUE: IncidentAction(
        "Send again",
        "queued again",
        "Failed, expired and cancelled emails that match are queued again, with their ids, and are "
        "sent as soon as the limits allow. Those all of whose recipients are suppressed, and those "
        "whose content is archived, stay as they are.",
        takes="failed, expired or cancelled email",
    ),
}
"""In the order in which the form offers them."""


async def show(context: PageContext) -> Response:
    """Show the form, the count of what it matches, and the operations of the project."""
    return await _shown(context, read_operation(context.request.query_params))


async def ask_cancellation(context: PageContext) -> Response:
    """Show the count of what would be cancelled, and the form that does it."""
    asked = read_operation(context.request.query_params, OperationVerb.CANCEL)
    return await _shown(context, asked, is_confirmed=True)


async def begin(context: PageContext, *, verb: OperationVerb) -> Response:
    """Begin an operation once, and go to its page; show the form again if it is not possible."""
    asked = read_operation(context.form, verb)
    project = context.seen.name
    try:
        if len(asked.typed["reason"]) > MAX_REASON:
            raise InvalidField("reason", f"must have at most {MAX_REASON} characters")
        async with context.acting_once() as conn:
            made = await background.begin(
                conn,
                context.seen.id,
                verb=verb,
                where=asked.where,
                reason=asked.typed["reason"] or "by the console",
                by=context.user.by,
                to=asked.to,
            )
    except DoneBefore:
        return context.redirect(project_path(project, "incidents", done="before"))
    except InvalidField as exc:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        return await _shown(context, _with_fault(asked, exc), status, is_confirmed=True)
    except Conflict as exc:
        again = replace(asked, faults={"": sentence(str(exc))})
        return await _shown(context, again, HTTPStatus.CONFLICT, is_confirmed=True)
    return context.redirect(project_path(project, "incidents", "operations", made.id))


async def show_operation(context: PageContext) -> Response:
    """Show an operation and its progress."""
    operation_id = _operation_id_of(context)
    async with context.connection() as conn:
        found = await background.find(conn, context.seen.id, operation_id)
    return context.page(
        "incidents/operation.html",
        operation=found,
        act=ACTS[OperationVerb(found.verb)],
        conditions=conditions_of(found),
        is_live=found.state in RUNNING,
        release=_release_of(context, found),
        back=_back_of(context, found),
        done=context.query("done"),
    )


async def stop(context: PageContext) -> Response:
    """Stop an operation after its current batch."""
    operation_id, done = _operation_id_of(context), "stopping"
    try:
        async with context.acting_once() as conn:
            await background.stop(conn, context.seen.id, operation_id, by=context.user.by)
    except DoneBefore:
        done = "before"
    except Conflict:
        done = "over"
    path = project_path(context.seen.name, "incidents", "operations", operation_id, done=done)
    return context.redirect(path)


async def _shown(
    context: PageContext,
    asked: OperationForm,
    status: int = HTTPStatus.OK,
    *,
    is_confirmed: bool = False,
) -> Response:
    """Return the page; `is_confirmed`: destructive operations have their form on it."""
    before = uuid_of(context.query("before"))
    counted: MatchCount | None = None
    async with context.connection() as conn:
        if context.may(Right.CONTROL) and asked.where and not asked.faults.keys() - {"", "reason"}:
            try:
                async with conn.transaction():
                    counted = await background.count(
                        conn, context.seen.id, verb=asked.verb, where=asked.where, to=asked.to
                    )
            except InvalidField as exc:
                asked = _with_fault(asked, exc)
        found = await background.page(conn, context.seen.id, before=before, limit=PAGE_ROWS + 1)
        listed = await accounts.list_all(conn, project=context.seen.name)
    senders = [each.name for each in listed if each.provider != "trap"]
    operations = found[:PAGE_ROWS]
    return context.page(
        "incidents/list.html",
        status=status,
        asked=asked,
        counted=counted,
        act=ACTS[asked.verb],
        has_form=is_confirmed or not ACTS[asked.verb].is_destructive,
        acts=ACTS,
        verbs=[(verb.value, act.label) for verb, act in ACTS.items()],
        priorities=[("", "any"), *((word, word) for word in PRIORITIES)],
        operations=[(each, conditions_of(each)) for each in operations],
        senders=[("", "any"), *((name, name) for name in senders)],
        following=operations[-1].id if len(found) > PAGE_ROWS else None,
        longest=MAX_REASON,
        max_counted=MAX_COUNTED,
        done=context.query("done"),
    )


def _release_of(context: PageContext, operation: BackgroundOperation) -> str:
    """Return the path that counts what an operation has held; empty where there is no such form."""
    if operation.verb != OperationVerb.HOLD or not _has_undo(context, operation):
        return ""
    return project_path(context.seen.name, "incidents", verb="release", **operation.filter)


def _back_of(context: PageContext, operation: BackgroundOperation) -> str:
    """Return the path that counts what an operation has moved away from one sender account, empty
    where it is not known from which, or there is no such form.
    """
    sender = operation.filter.get("sender")
    if sender is None or operation.to is None or not _has_undo(context, operation):
        return ""
    where = {**operation.filter, "sender": operation.to}
    return project_path(context.seen.name, "incidents", verb="move", to=sender, **where)


def _has_undo(context: PageContext, operation: BackgroundOperation) -> bool:
    """Return whether the form of this page can take back what an operation has changed."""
    is_over = operation.state not in RUNNING and operation.emails > 0
    return is_over and context.may(Right.CONTROL) and operation.filter.keys() <= set(CONDITIONS)


def _with_fault(asked: OperationForm, exc: InvalidField) -> OperationForm:
    field = exc.field if exc.field in NAMES else ""
    text = exc.why if field or exc.field == "filter" else str(exc)
    return replace(asked, faults=dict(asked.faults) | {field: sentence(text)})


def _operation_id_of(context: PageContext) -> UUID:
    return context.id_in_path("operation_id", "operation")


def _begin(verb: OperationVerb) -> ConsolePage:
    return ConsolePage(
        "POST",
        f"{PATH}/{verb}",
        Right.CONTROL,
        partial(begin, verb=verb),
        keeps=NAMES,
        step_up=ACTS[verb].is_destructive,
    )


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show, menu=MenuEntry("Incidents", "Mail")),
    ConsolePage("GET", f"{PATH}/cancel", Right.CONTROL, ask_cancellation, step_up=True),
    *(_begin(verb) for verb in OperationVerb),
    ConsolePage("GET", OPERATION, Right.READ, show_operation),
    ConsolePage("POST", f"{OPERATION}/stop", Right.CONTROL, stop),
)
