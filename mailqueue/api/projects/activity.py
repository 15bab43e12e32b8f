"""Endpoints that show what is sent now: of a project for its keys, of all for administrators."""

from functools import partial

from pydantic import Field

from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.api.projects.endpoints import named
from mailqueue.contract.activity import SendingActivity
from mailqueue.operations.activity import Activity
from mailqueue.projects.model import Scope

_READER = "activity"
"""Who reads the figures of all projects, of which a caller is shown its own."""


class ActivityQuery(RequestModel):
    """Filter of what is sent now."""

    project: StorableText | None = Field(default=None, min_length=1, max_length=100)
    """Filter by project, by id or slug."""


async def show(call: RequestContext) -> SendingActivity:
    """Return what the key's project sends."""
    activity = await _refreshed(call)
    return activity.snapshot(call.caller.project_id, call.caller.project).sending()


async def show_all(call: RequestContext) -> SendingActivity:
    """Return what all projects send, or one of them."""
    query: ActivityQuery = call.query
    if query.project is None:
        return (await _refreshed(call)).snapshot().sending()
    async with call.connection() as conn:
        project = await named(conn, query.project)
    return (await _refreshed(call)).snapshot(project.id, project.name).sending()


async def _refreshed(call: RequestContext) -> Activity:
    activity = call.services.activity
    await activity.refresh_from(partial(call.runtime.transaction, None, by=_READER))
    return activity


_ABOUT = (
    "Which account is slow, and how many attempts fail: response times and outcomes by sender "
    "account, and attempts of each minute of the last hour and each ten minutes of the last day. "
    "Read at most every few seconds, however many ask."
)
ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/projects/{pid}/activity",
        Scope.ANALYTICS_READ,
        "Show what the project sends now.",
        show,
        response=SendingActivity,
        description=_ABOUT,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        "/admin/activity",
        None,
        "Show what all projects send now.",
        show_all,
        query=ActivityQuery,
        response=SendingActivity,
        superadmin=True,
        tag="Installation",
        description=_ABOUT,
    ),
)
