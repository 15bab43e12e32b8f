"""SendGrid's API: ids of batches, and the batches that are paused or cancelled.

Follows twilio.com/docs/sendgrid/api-reference/cancel-scheduled-sends. A batch is a campaign:
pausing it is a pause of the campaign, and cancelling it an operation on all its mail that is not
sent yet. Of both, the newest is the status of the batch. Each needs the scope that it needs on
/v1, a pause that of the project's pauses.
"""

import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.model import batch_endpoint
from mailqueue.api.compat.permissions import check_may, check_may_change
from mailqueue.api.compat.sendgrid.faults import SendGridRefused, Wrong
from mailqueue.api.compat.sendgrid.suppressions import body_of, no_content, refuse_subuser
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.contract.background import BackgroundOperation
from mailqueue.contract.operations import Pause
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.operations import background, pausing
from mailqueue.operations.background import OperationVerb
from mailqueue.operations.pausing import PauseKind
from mailqueue.projects.model import Scope

MAX_BATCH_CHARACTERS = 200
MAX_OPERATIONS = 100
"""The newest operations of the project, among which cancelled batches are listed."""
REASON = "asked by the API of sendgrid"
_ID_BYTES = 24
_MADE_HERE = re.compile(r"[A-Za-z0-9_-]{32}")
_EARLIEST = datetime.min.replace(tzinfo=UTC)
StatusWord = Literal["pause", "cancel"]


class BatchStatusChange(StrictRequestModel):
    """The body of PATCH /v3/user/scheduled_sends/{batch_id}."""

    status: StatusWord


class StoppedBatch(BatchStatusChange):
    """The body of POST /v3/user/scheduled_sends."""

    batch_id: Annotated[StorableText, Field(min_length=1, max_length=MAX_BATCH_CHARACTERS)]


@dataclass(frozen=True, slots=True)
class _BatchStatus:
    word: StatusWord
    since: datetime
    is_over: bool = False  # a cancellation that changes no more mail


async def make_id(call: RequestContext) -> Response:
    """Return a new id for a batch; nothing is stored."""
    refuse_subuser(call.request)
    shown = {"batch_id": secrets.token_urlsafe(_ID_BYTES)}
    return json_answer(shown, status=HTTPStatus.CREATED)


async def check_id(call: RequestContext) -> Response:
    """Return an id that has the form of those that are made here."""
    refuse_subuser(call.request)
    given = call.path["batch_id"]
    if not _MADE_HERE.fullmatch(given):
        raise SendGridRefused([Wrong("invalid batch id", "batch_id")])
    return json_answer({"batch_id": given})


async def stop(call: RequestContext) -> Response:
    """Pause or cancel a batch that has no status yet."""
    refuse_subuser(call.request)
    body = await body_of(call, StoppedBatch)
    async with call.in_one_transaction():
        if await _status(call, body.batch_id) is not None:
            why = "a status for this batch id exists, try PATCH to update the status"
            raise SendGridRefused([Wrong(why, "batch_id")])
        await _set(call, body.batch_id, body.status)
    return json_answer(_shown(body.batch_id, body.status), status=HTTPStatus.CREATED)


async def index(call: RequestContext) -> Response:
    """List the batches that are paused or cancelled."""
    refuse_subuser(call.request)
    check_may(call, Scope.PROJECT_READ)
    found = await _statuses(call)
    return json_answer([_shown(batch, one.word) for batch, one in found.items()])


async def show(call: RequestContext) -> Response:
    """Show the status of a batch; an empty list where it has none."""
    refuse_subuser(call.request)
    check_may(call, Scope.PROJECT_READ)
    batch = call.path["batch_id"]
    one = await _status(call, batch)
    return json_answer([] if one is None else [_shown(batch, one.word)])


async def change(call: RequestContext) -> Response:
    """Pause a batch that was cancelled, for mail accepted later, or cancel one that is paused.

    Cancelling it again cancels what was accepted since.
    """
    refuse_subuser(call.request)
    body = await body_of(call, BatchStatusChange)
    async with call.in_one_transaction():
        one = await _found(call)
        if one.word != body.status or one.is_over:
            await _set(call, call.path["batch_id"], body.status)
    return no_content()


async def resume(call: RequestContext) -> Response:
    """End the pause of a batch; mail that was cancelled stays cancelled."""
    refuse_subuser(call.request)
    async with call.in_one_transaction() as conn:
        one = await _found(call)
        if one.word == "cancel":
            raise SendGridRefused([Wrong("cancelled mail stays cancelled", "status")])
        check_may_change(call, Scope.PROJECT_WRITE)
        await pausing.resume_in(
            conn,
            call.caller.project_id,
            kind=PauseKind.CAMPAIGN,
            name=call.path["batch_id"],
            by=call.by,
        )
    return no_content()


async def _statuses(call: RequestContext) -> dict[str, _BatchStatus]:
    """Return the status of each batch that is paused, or was cancelled lately."""
    project_id = call.caller.project_id
    async with call.connection() as conn:
        pauses = await pausing.list_of(conn, project_id, kind=PauseKind.CAMPAIGN)
        operations = await background.page(conn, project_id, limit=MAX_OPERATIONS)
    paused = {one.name: one for one in pauses}
    cancelled: dict[str, BackgroundOperation] = {}
    for one in operations:  # the newest first
        if one.verb == OperationVerb.CANCEL and set(one.filter) == {"campaign_id"}:
            cancelled.setdefault(str(one.filter["campaign_id"]), one)
    found = {}
    for batch in paused | cancelled:
        status = _newest(paused.get(batch), cancelled.get(batch))
        if status is not None:
            found[batch] = status
    return found


async def _status(call: RequestContext, batch: str) -> _BatchStatus | None:
    """Return the status of one batch, None if it is neither paused nor cancelled."""
    project_id = call.caller.project_id
    async with call.connection() as conn:
        paused = await pausing.find_campaign(conn, project_id, batch)
        cancelled = await background.find_cancellation(conn, project_id, batch)
    return _newest(paused, cancelled)


def _newest(paused: Pause | None, cancelled: BackgroundOperation | None) -> _BatchStatus | None:
    """Return what was done last. Pure."""
    since = _EARLIEST if paused is None else paused.since or _EARLIEST
    if cancelled is not None and since <= cancelled.created_at:
        is_over = cancelled.finished_at is not None
        return _BatchStatus("cancel", cancelled.created_at, is_over)
    return None if paused is None else _BatchStatus("pause", since)


async def _found(call: RequestContext) -> _BatchStatus:
    """Return the status of the batch of the path.

    Raises:
        NotFound: it is neither paused nor cancelled.
    """
    batch = call.path["batch_id"]
    one = await _status(call, batch)
    if one is None:
        raise NotFound("scheduled send", batch[:100])
    return one


async def _set(call: RequestContext, batch: str, word: StatusWord) -> None:
    project_id = call.caller.project_id
    if word == "pause":
        check_may_change(call, Scope.PROJECT_WRITE)
    async with call.connection() as conn:
        try:
            if word == "pause":
                await pausing.pause_in(
                    conn,
                    project_id,
                    kind=PauseKind.CAMPAIGN,
                    name=batch,
                    until=None,
                    reason=REASON,
                    by=call.by,
                )
            else:
                await background.begin(
                    conn,
                    project_id,
                    verb=OperationVerb.CANCEL,
                    where={"campaign_id": batch},
                    reason=REASON,
                    by=call.by,
                )
        except InvalidField as exc:
            raise SendGridRefused([Wrong(exc.why, "batch_id")]) from exc


def _shown(batch: str, word: StatusWord) -> dict[str, Any]:
    return {"batch_id": batch, "status": word}


_BATCH = "/v3/mail/batch"
_SENDS = "/v3/user/scheduled_sends"
_ONE = f"{_SENDS}/{{batch_id}}"
SCHEDULED_ENDPOINTS = (
    batch_endpoint("POST", _BATCH, "Make the id of a batch.", make_id),
    batch_endpoint("GET", f"{_BATCH}/{{batch_id}}", "Check the id of a batch.", check_id),
    batch_endpoint("POST", _SENDS, "Pause or cancel a batch.", stop),
    batch_endpoint("GET", _SENDS, "List batches that are paused or cancelled.", index),
    batch_endpoint("GET", _ONE, "Show the status of a batch.", show),
    batch_endpoint("PATCH", _ONE, "Change the status of a batch.", change),
    batch_endpoint("DELETE", _ONE, "End the pause of a batch.", resume),
)
