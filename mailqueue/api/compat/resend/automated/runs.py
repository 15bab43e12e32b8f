"""Resend's API: runs of an automation, which are the enrollments of its sequence."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BeforeValidator, Field
from starlette.responses import Response

from mailqueue.api.compat.resend.automated.automations import automation_of
from mailqueue.api.compat.resend.automated.model import DELAY, MAIL, TRIGGER
from mailqueue.api.compat.resend.pages import DEFAULT_LIMIT, ListPage, list_answer, page_query
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import json_answer
from mailqueue.contract.automation.sequences import Enrollment, EnrollmentDetail
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.projects.model import Scope
from mailqueue.sequences import enrollments

_STATES: Mapping[str, tuple[str, ...]] = {
    "running": ("active", "paused"),
    "completed": ("completed",),
    "failed": ("failed",),
    "cancelled": ("left",),
}
"""The states of enrollments by Resend's of runs."""
_WORDS = {state: word for word, states in _STATES.items() for state in states}
_AT_REST = {"active": "running", "paused": "running", "failed": "failed", "left": "cancelled"}


_Word = Literal["running", "completed", "failed", "cancelled"]


def _split(text: Any) -> Any:
    return text.split(",") if isinstance(text, str) else text


class AutomationRunPage(ListPage):
    """The query of GET /automations/{automation_id}/runs; `status` is separated by commas."""

    status: Annotated[list[_Word], BeforeValidator(_split), Field(min_length=1, max_length=4)] = (
        Field(default_factory=list)
    )


async def index(call: RequestContext) -> Response:
    """List the runs of an automation, newest first."""
    query = page_query(call, AutomationRunPage)
    if query.before is not None:
        raise InvalidField("before", "is not supported: runs are listed from the newest on")
    one = await automation_of(call)
    limit = query.limit or DEFAULT_LIMIT
    found: list[Enrollment] = []
    async with call.connection() as conn:
        for state in (
            state for word in dict.fromkeys(query.status or _STATES) for state in _STATES[word]
        ):
            page = await enrollments.list_page(
                conn,
                call.caller.project_id,
                sequence=one.subject,
                email=None,
                state=state,
                before=query.after,
                limit=limit + 1,
            )
            found += page.data
    found.sort(key=lambda run: run.id, reverse=True)
    return list_answer([_listed(run) for run in found[:limit]], len(found) > limit)


async def show(call: RequestContext) -> Response:
    """Show a run with what became of the steps that the automation has now."""
    one = await automation_of(call)
    run_id: UUID = call.id("run_id")
    async with call.connection() as conn:
        run = await enrollments.get(conn, call.caller.project_id, run_id)
    if run.sequence != one.subject:
        raise NotFound("run", run_id)
    steps = _ordered(one.settings["steps"], one.settings["connections"])
    shown = [_step(each, run) for each in steps]
    for delay, after in zip(reversed(shown[:-1]), reversed(shown[1:]), strict=True):
        if delay["type"] == DELAY:  # it is over with the mail behind it
            delay["status"] = after["status"]
    return json_answer({"object": "automation_run", **_listed(run), "steps": shown})


def _ordered(
    steps: Sequence[Mapping[str, Any]], connections: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return the steps of a chain in its order. Pure."""
    by_key = {one["key"]: one for one in steps}
    after = {one["from"]: one["to"] for one in connections}
    found = [one for one in steps if one["type"] == TRIGGER]
    while found[-1]["key"] in after:
        found.append(by_key[after[found[-1]["key"]]])
    return found


def _listed(run: Enrollment) -> dict[str, Any]:
    return {
        "id": run.id,
        "status": _WORDS[str(run.state)],
        "started_at": stamp(run.enrolled_at),
        "completed_at": None if run.finished_at is None else stamp(run.finished_at),
        "created_at": stamp(run.enrolled_at),
    }


def _step(step: Mapping[str, Any], run: EnrollmentDetail) -> dict[str, Any]:
    """Return a step of a run; what became of a delay is seen at the mail behind it. Pure."""
    shown: dict[str, Any] = {
        "key": step["key"],
        "type": step["type"],
        "status": "pending",
        "started_at": None,
        "completed_at": None,
        "output": None,
        "error": None,
        "created_at": stamp(run.enrolled_at),
    }
    if step["type"] == TRIGGER:
        at = stamp(run.enrolled_at)
        return shown | {"status": "completed", "started_at": at, "completed_at": at}
    if step["type"] != MAIL:
        return shown
    done = [one for one in run.steps if one.step == step["key"]]
    if done:
        at = stamp(done[-1].done_at)
        output = {"email_id": done[-1].email_id}
        return shown | {
            "status": "completed",
            "started_at": at,
            "completed_at": at,
            "output": output,
        }
    if run.step == step["key"]:
        return shown | {"status": _AT_REST.get(str(run.state), "pending"), "error": run.error}
    return shown


_PATH = "/automations/{automation_id}/runs"
RUN_ENDPOINTS = tuple(
    Endpoint("GET", path, Scope.EMAIL_READ, summary, handler, test_keys=ForTestKeys.OWN)
    for path, summary, handler in (
        (_PATH, "List the runs of an automation.", index),
        (f"{_PATH}/{{run_id}}", "Show a run.", show),
    )
)
