"""Mailgun's API: the tags of mail that was counted in the last days."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.mailgun.counts.described import MailgunTagQuery, descriptions
from mailqueue.api.compat.mailgun.domains import check_domain
from mailqueue.api.compat.mailgun.faults import MissingParameter, TagNotFound
from mailqueue.api.compat.mailgun.pages import MailgunNamedPage, page_of, paging_of
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.seen_tags import SeenTag, seen_tags
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.core.errors import InvalidField
from mailqueue.projects.model import Scope

_Handler = Callable[[RequestContext], Awaitable[Response]]


class MailgunTagPage(RequestModel):
    """The query of the list of tags; `tag` is the one that a page begins after."""

    limit: int = Field(default=100, ge=1, le=1_000)
    page: Literal["", "first", "next", "previous", "prev", "last"] = ""
    tag: StorableText | None = None
    prefix: StorableText | None = None


async def index(call: RequestContext) -> Response:
    """List tags by name."""
    await check_domain(call)
    query = query_of(call, MailgunTagPage)
    found = [one for one in await seen_tags(call) if one.tag.startswith(query.prefix or "")]
    chosen = MailgunNamedPage.model_construct(limit=query.limit, page=query.page, p=query.tag)
    try:
        page = page_of(found, chosen, lambda one: one.tag)
    except InvalidField as exc:
        raise exc.named("tag") from None
    more = {} if query.prefix is None else {"prefix": query.prefix}
    paging = paging_of(call, chosen, [one.tag for one in page], pivot="tag", more=more)
    told = await descriptions(call)
    items = [_shown(one, told.get(one.tag, "")) for one in page]
    return json_answer({"items": items, "paging": paging})


async def show(call: RequestContext) -> Response:
    """Show the tag of the path."""
    await check_domain(call)
    return json_answer(await _found(call, call.path["tag"]))


async def show_named(call: RequestContext) -> Response:
    """Show the tag of the query."""
    await check_domain(call)
    query = query_of(call, MailgunTagQuery)
    if not query.tag:
        raise MissingParameter("tag")
    return json_answer(await _found(call, query.tag))


async def _found(call: RequestContext, tag: str) -> dict[str, Any]:
    for one in await seen_tags(call):
        if one.tag == tag:
            return _shown(one, (await descriptions(call)).get(tag, ""))
    raise TagNotFound("tag not found")


def _shown(one: SeenTag, description: str) -> dict[str, Any]:
    return {
        "tag": one.tag,
        "description": description,
        "first-seen": one.first.isoformat(),
        "last-seen": one.last.isoformat(),
    }


def _reading(path: str, summary: str, handler: _Handler) -> Endpoint:
    return Endpoint("GET", path, Scope.ANALYTICS_READ, summary, handler, test_keys=ForTestKeys.OWN)


TAG_ENDPOINTS = (
    _reading("/v3/{domain}/tags", "List tags.", index),
    _reading("/v3/{domain}/tags/{tag}", "Show a tag.", show),
    _reading("/v3/{domain}/tag", "Show a tag.", show_named),
)
