"""SendGrid's API: single sends, which are broadcasts to a list or a segment.

Follows twilio.com/docs/sendgrid/api-reference/single-sends. Drafts are kept here; what sends them
is a schedule, whose state is that of the single send. Those that Resend's clients wrote, whose
texts are in another language, are not shown.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from starlette.responses import Response

from mailqueue.api.compat.broadcasts import store
from mailqueue.api.compat.broadcasts.sending import (
    CHANGED,
    add_draft,
    release,
    take_back,
)
from mailqueue.api.compat.broadcasts.store import (
    SINGLE_SEND,
    Broadcast,
    BroadcastFields,
    SoughtBroadcasts,
)
from mailqueue.api.compat.model import CompatHandler
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.sendgrid.marketing.contact_model import Ids
from mailqueue.api.compat.sendgrid.marketing.singlesends.model import (
    MAX_NAME,
    ChangedSingleSend,
    CopiedSingleSend,
    NewSingleSend,
    ScheduledSingleSend,
    SingleSendsQuery,
    SoughtSingleSends,
    is_draft_again,
    listed,
    merged,
    said_of,
    shown,
)
from mailqueue.api.compat.sendgrid.marketing.singlesends.sending import schedule_at
from mailqueue.api.compat.sendgrid.suppressions import body_of, no_content, refuse_subuser
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.origin import origin_of
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.projects.model import Scope

MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_CATEGORIES = 1_000
_COPY = "Copy of "
_PATH = "/v3/marketing/singlesends"


class RemovedSingleSendsQuery(RequestModel):
    """The query of DELETE /v3/marketing/singlesends."""

    ids: Ids


async def create(call: RequestContext) -> Response:
    """Add a draft."""
    refuse_subuser(call.request)
    body = await body_of(call, NewSingleSend, max_bytes=MAX_BODY_BYTES)
    return await _added(call, body.name, body.content())


async def index(call: RequestContext) -> Response:
    """List single sends, newest first."""
    refuse_subuser(call.request)
    return await _listed(call, SoughtBroadcasts(), "")


async def search(call: RequestContext) -> Response:
    """List single sends by name, status and categories."""
    refuse_subuser(call.request)
    sought = await body_of(call, SoughtSingleSends)
    return await _listed(call, sought.to_sought(), "/search")


async def categories(call: RequestContext) -> Response:
    """List the categories of the newest single sends."""
    refuse_subuser(call.request)
    async with call.connection() as conn:
        project_id = call.caller.project_id
        names = await store.list_categories(conn, project_id, limit=MAX_CATEGORIES)
    return json_answer({"categories": names})


async def show(call: RequestContext) -> Response:
    """Show a single send."""
    refuse_subuser(call.request)
    return json_answer(shown(await single_send_of(call)))


async def copy(call: RequestContext) -> Response:
    """Add a draft that says what another single send does."""
    refuse_subuser(call.request)
    body = await body_of(call, CopiedSingleSend)
    one = await single_send_of(call)
    name = body.name or (_COPY + one.name)[:MAX_NAME]
    return await _added(call, name, {**said_of(one), "send_at": None})


async def change(call: RequestContext) -> Response:
    """Change a draft."""
    refuse_subuser(call.request)
    body = await body_of(call, ChangedSingleSend, max_bytes=MAX_BODY_BYTES)
    given = body.content()
    async with call.in_one_transaction() as conn:
        one = await _draft(call)
        said = merged(said_of(one), given)
        fields = BroadcastFields(body.name or one.name, None, None, {SINGLE_SEND: said})
        if not await store.change(conn, call.caller.project_id, one, fields):
            raise Conflict(CHANGED)
        changed = await _found(call, one.id)
    return json_answer(shown(changed), status=HTTPStatus.ACCEPTED)


async def schedule(call: RequestContext) -> Response:
    """Send a draft, now or at a time."""
    refuse_subuser(call.request)
    body = await body_of(call, ScheduledSingleSend)
    async with call.in_one_transaction():
        one = await _draft(call)
    at = await schedule_at(call, one, body.send_at)
    document = {"send_at": at, "status": "scheduled"}
    return json_answer(document, status=HTTPStatus.CREATED)


async def unschedule(call: RequestContext) -> Response:
    """Cancel the schedule of a single send that has not begun to be sent; it is a draft again."""
    refuse_subuser(call.request)
    async with call.in_one_transaction() as conn:
        one = await single_send_of(call)
        await take_back(call, conn, one)
        changed = await _found(call, one.id)
    return json_answer({"send_at": said_of(changed).get("send_at"), "status": "draft"})


async def remove(call: RequestContext) -> Response:
    """Remove a single send; one that has not begun to be sent is unscheduled first."""
    refuse_subuser(call.request)
    async with call.in_one_transaction():
        await _removed(call, await single_send_of(call))
    return no_content()


async def remove_many(call: RequestContext) -> Response:
    """Remove single sends, all or none; ids of none are left out.

    In the order of their ids, so that two requests for the same ones never wait for each other.
    """
    refuse_subuser(call.request)
    query = query_of(call, RemovedSingleSendsQuery)
    async with call.in_one_transaction():
        for broadcast_id in sorted(set(query.ids)):
            try:
                one = await _found(call, broadcast_id)
            except NotFound:
                continue
            await _removed(call, one)
    return no_content()


async def single_send_of(call: RequestContext) -> Broadcast:
    """Return the single send of the path.

    Raises:
        NotFound: the project has none of the id.
    """
    return await _found(call, call.id("broadcast_id"))


async def _found(call: RequestContext, broadcast_id: UUID) -> Broadcast:
    project_id = call.caller.project_id
    async with call.connection() as conn:
        found = await store.find(conn, project_id, broadcast_id, of_sendgrid=True)
    if found is None:
        raise NotFound("single send", broadcast_id)
    return found


async def _draft(call: RequestContext) -> Broadcast:
    """Return the draft of the path; one whose schedule was cancelled elsewhere is a draft again,
    unless some of its mail is there.

    Raises:
        NotFound: the project has none of the id.
        Conflict: it is scheduled, or was sent.
    """
    one = await single_send_of(call)
    if is_draft_again(one):
        async with call.connection() as conn:
            await release(call, conn, one)
        return await single_send_of(call)
    if one.status != "draft":
        raise Conflict("only a draft can be changed or scheduled: unschedule it first")
    return one


async def _removed(call: RequestContext, one: Broadcast) -> None:
    project_id = call.caller.project_id
    async with call.connection() as conn:
        if is_draft_again(one):
            await release(call, conn, one)
        elif one.status != "draft":
            await take_back(call, conn, one)
        await store.remove(conn, project_id, one.id)


async def _added(call: RequestContext, name: str, said: dict[str, Any]) -> Response:
    async with call.in_one_transaction() as conn:
        made = await add_draft(call, conn, BroadcastFields(name, None, None, {SINGLE_SEND: said}))
        one = await _found(call, made)
    return json_answer(shown(one), status=HTTPStatus.CREATED)


async def _listed(call: RequestContext, sought: SoughtBroadcasts, path: str) -> Response:
    query = query_of(call, SingleSendsQuery)
    page, links = await page_of(call, sought, query, f"{_PATH}{path}")
    return json_answer({"result": [listed(one) for one in page], "_metadata": links})


async def page_of(
    call: RequestContext, sought: SoughtBroadcasts, query: SingleSendsQuery, path: str
) -> tuple[Sequence[Broadcast], dict[str, Any]]:
    """Return a page of single sends, and the links of its answer.

    Raises:
        InvalidField: the page begins behind a single send that is not there.
    """
    async with call.connection() as conn:
        page = await store.page_single_sends(
            conn, call.caller.project_id, sought, after=query.page_token, limit=query.page_size
        )
    if not page.is_there:
        raise InvalidField("page_token", "there is no such page")
    url = origin_of(call.request.scope, call.settings.tracking.public_url) + path
    links: dict[str, Any] = {"self": url, "count": page.total}
    if page.has_more:
        asked = {
            name: value
            for name, value in call.request.query_params.multi_items()
            if name != "page_token"
        }
        asked |= {"page_size": str(query.page_size), "page_token": str(page.single_sends[-1].id)}
        links["next"] = f"{url}?{urlencode(asked)}"
    return page.single_sends, links


def single_send_endpoint(
    method: str, path: str, summary: str, handler: CompatHandler, *, is_reading: bool = False
) -> Endpoint:
    """Return an endpoint of single sends. `is_reading`: a POST that changes nothing."""
    reads = method == "GET" or is_reading
    scope = Scope.EMAIL_READ if reads else Scope.EMAIL_SEND
    return Endpoint(
        method, path, scope, summary, handler, once=Once.NEVER, test_keys=ForTestKeys.REFUSED
    )


_ONE = f"{_PATH}/{{broadcast_id}}"
_endpoint = single_send_endpoint
SINGLE_SEND_ENDPOINTS = (
    _endpoint("POST", _PATH, "Add a single send.", create),
    _endpoint("GET", _PATH, "List single sends.", index),
    _endpoint("DELETE", _PATH, "Remove single sends.", remove_many),
    _endpoint("GET", f"{_PATH}/categories", "List categories of single sends.", categories),
    _endpoint("POST", f"{_PATH}/search", "Find single sends.", search, is_reading=True),
    _endpoint("GET", _ONE, "Show a single send.", show),
    _endpoint("POST", _ONE, "Copy a single send.", copy),
    _endpoint("PATCH", _ONE, "Change a single send.", change),
    _endpoint("DELETE", _ONE, "Remove a single send.", remove),
    _endpoint("PUT", f"{_ONE}/schedule", "Send a single send, now or later.", schedule),
    _endpoint("DELETE", f"{_ONE}/schedule", "Unschedule a single send.", unschedule),
)
