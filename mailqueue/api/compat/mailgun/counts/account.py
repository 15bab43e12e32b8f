"""Mailgun's API: the tags of all domains, with their counts.

Follows documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/tags-new.
"""

from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field, ValidationError
from starlette.responses import Response

from mailqueue.api.compat.mailgun.counts.described import describe, descriptions
from mailqueue.api.compat.mailgun.counts.metrics import EVERY_METRIC, shown_counts
from mailqueue.api.compat.mailgun.faults import NamedParameter
from mailqueue.api.compat.model import domain_endpoint
from mailqueue.api.compat.reading import Model, document_of
from mailqueue.api.compat.seen_tags import MAX_TAGS_OF_A_DAY, SeenTag, seen_tags, tags_of_today
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import invalid_request, json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.api.http.validation import validated
from mailqueue.core.errors import InvalidField
from mailqueue.projects.model import Scope

MAX_BODY_BYTES = 64 * 1024
_Order = Callable[[SeenTag], Any]
_ORDERS: dict[str, _Order] = {
    "tag": lambda one: one.tag,
    "firstseen": lambda one: one.first,
    "lastseen": lambda one: one.last,
}
_NEWEST = "lastseen:desc"


class TagsPage(StrictRequestModel):
    """The part of the tags that is shown, and their order: `tag`, `firstseen` or `lastseen`."""

    sort: StorableText | None = None
    skip: int = Field(default=0, ge=0, le=1_000_000)
    limit: int = Field(default=100, ge=1, le=1_000)
    total: int | None = None
    include_total: bool = True


class TagsQuery(StrictRequestModel):
    """The body of POST /v1/analytics/tags; `include_subaccounts` has no effect."""

    tag: StorableText | None = None
    include_subaccounts: bool = False
    include_metrics: bool = False
    pagination: TagsPage = TagsPage()


class TagDescription(StrictRequestModel):
    """The body of PUT /v1/analytics/tags."""

    tag: StorableText = Field(min_length=1)
    description: StorableText


async def index(call: RequestContext) -> Response:
    """List tags, or those that begin with a text; the newest first."""
    body = await _body(call, TagsQuery)
    page = body.pagination
    order, way = _order(page.sort or _NEWEST)
    found = [one for one in await seen_tags(call) if one.tag.startswith(body.tag or "")]
    found.sort(key=order, reverse=way == "desc")
    told = await descriptions(call)
    shown = [
        _shown(call, one, told.get(one.tag, ""), with_metrics=body.include_metrics)
        for one in found[page.skip : page.skip + page.limit]
    ]
    pagination: dict[str, Any] = {"sort": page.sort or _NEWEST, "skip": page.skip}
    pagination["limit"] = page.limit
    if page.include_total:
        pagination["total"] = len(found)
    return json_answer({"pagination": pagination, "items": shown})


async def change(call: RequestContext) -> Response:
    """Describe a tag; an empty text removes its description."""
    body = await _body(call, TagDescription)
    await describe(call, body.tag, body.description)
    return json_answer({"message": "Tag updated"})


async def limits(call: RequestContext) -> Response:
    """Show how many tags have counts of today (UTC), and how many may have."""
    count = await tags_of_today(call)
    limit = MAX_TAGS_OF_A_DAY
    return json_answer({"limit": limit, "count": count, "limit_reached": count >= limit})


async def _body(call: RequestContext, model: type[Model]) -> Model:
    """Return the body.

    Raises:
        NamedParameter: a field is invalid; the first one is named.
    """
    document = await document_of(call, max_bytes=MAX_BODY_BYTES)
    try:
        return validated(model, document, call.values)
    except ValidationError as exc:
        wrong = invalid_request(exc)
        if isinstance(wrong, InvalidField):
            raise NamedParameter(wrong.field, wrong.why) from None
        raise wrong from None


def _order(sort: str) -> tuple[_Order, Literal["asc", "desc"]]:
    """Return the order that a text names, such as `last_seen:desc`. Pure.

    Raises:
        NamedParameter: it names none.
    """
    name, _, way = sort.partition(":")
    order = _ORDERS.get(name.replace("_", ""))
    if order is None or way not in ("asc", "desc"):
        names = ", ".join(_ORDERS)
        raise NamedParameter("pagination.sort", f"must be one of {names}, with :asc or :desc")
    return order, "asc" if way == "asc" else "desc"


def _shown(
    call: RequestContext, one: SeenTag, description: str, *, with_metrics: bool
) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "account_id": str(call.caller.project_id),
        "parent_account_id": "",
        "account_name": call.caller.project,
        "tag": one.tag,
        "description": description,
        "first_seen": one.first.isoformat(),
        "last_seen": one.last.isoformat(),
    }
    if with_metrics:
        shown["metrics"] = shown_counts(one.counts, EVERY_METRIC)
    return shown


_PATH = "/v1/analytics/tags"
ACCOUNT_TAG_ENDPOINTS = (
    Endpoint(
        "POST",
        _PATH,
        Scope.ANALYTICS_READ,
        "List the tags of all domains.",
        index,
        test_keys=ForTestKeys.OWN,
    ),
    domain_endpoint("PUT", _PATH, "Describe a tag.", change),
    Endpoint(
        "GET",
        f"{_PATH}/limits",
        Scope.ANALYTICS_READ,
        "Count the tags of today.",
        limits,
        test_keys=ForTestKeys.OWN,
    ),
)
