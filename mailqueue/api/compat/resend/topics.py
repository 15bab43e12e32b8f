"""Resend's API: topics, which are categories of the preference centre.

Follows resend.com/docs/api-reference/topics. Contacts get mail of a category unless they left it,
which is the default subscription `opt_in`. Categories that recipients cannot leave are no topics.
The id of a topic is made from the slug of its category.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4, uuid5

from pydantic import Field, model_validator
from starlette.responses import Response

from mailqueue.api.compat.model import suppression_endpoint
from mailqueue.api.compat.named_lists import list_name
from mailqueue.api.compat.permissions import check_may, check_may_change
from mailqueue.api.compat.resend.pages import ListPage, body_of, list_answer, page_of, page_query
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.compat.suppressed.lists import add_addresses, find_address, remove_address
from mailqueue.api.compat.suppressed.model import CHOSEN, SuppressedList
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel
from mailqueue.contacts import contacts
from mailqueue.contract.contacts import Contact
from mailqueue.contract.suppression import Category
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.projects.model import Scope
from mailqueue.suppression.acceptable import new_suppression
from mailqueue.suppression.subscriptions import categories

MAX_CHOICES = 100
_Name = Annotated[StorableText, Field(min_length=1, max_length=100)]
_Description = Annotated[StorableText, Field(max_length=300)]


class ChangedTopic(StrictRequestModel):
    """The body of PATCH /topics/{topic_id}; what is left out stays."""

    name: _Name | None = None
    description: _Description | None = None
    visibility: Literal["public"] | None = None


class NewTopic(StrictRequestModel):
    """The body of POST /topics."""

    name: _Name
    default_subscription: Literal["opt_in"]
    description: _Description | None = None
    visibility: Literal["public"] | None = None


class TopicChoice(RequestModel):
    """The choice of a contact for one topic."""

    id: UUID
    subscription: Literal["opt_in", "opt_out"]


class TopicChoices(RequestModel):
    """The body of PATCH /contacts/{contact}/topics: choices, alone or as `topics`."""

    topics: Annotated[list[TopicChoice], Field(min_length=1, max_length=MAX_CHOICES)]

    @model_validator(mode="before")
    @classmethod
    def _named(cls, document: Any) -> Any:
        return {"topics": document} if isinstance(document, list) else document


async def create(call: RequestContext) -> Response:
    """Add a topic: a category whose slug is made from the name."""
    body = await body_of(call, NewTopic)
    short = list_name(body.name, otherwise="topic")
    slug = short if short[0].isalpha() else f"topic-{short}"
    fields = {"name": body.name, "description": body.description}
    try:
        made = await _added(call, slug, fields)
    except InvalidField as exc:
        raise _renamed(exc) from exc
    shown = {"object": "topic", "id": _id_of(call, made), "name": made.name}
    return json_answer(shown, status=201)


async def index(call: RequestContext) -> Response:
    """List topics, newest first."""
    query = page_query(call, ListPage)
    found = sorted(await _topics(call), key=lambda one: (one.created_at, one.slug), reverse=True)
    page, has_more = page_of(found, query, lambda one: _id_of(call, one))
    return list_answer([_shown(call, one) for one in page], has_more)


async def show(call: RequestContext) -> Response:
    """Show a topic."""
    one = await topic_of(call, call.id("topic_id"))
    return json_answer({"object": "topic", **_shown(call, one)})


async def change(call: RequestContext) -> Response:
    """Change a topic."""
    body = await body_of(call, ChangedTopic)
    one = await topic_of(call, call.id("topic_id"))
    given = body.model_dump(include={"name", "description"}, exclude_none=True)
    async with call.connection() as conn:
        try:
            await categories.change(
                conn, call.caller.project, slug=one.slug, fields=given, by=call.by
            )
        except InvalidField as exc:
            raise _renamed(exc) from exc
    return json_answer({"object": "topic", "id": _id_of(call, one)})


async def remove(call: RequestContext) -> Response:
    """Remove a topic; contacts that left it stay unsubscribed."""
    one = await topic_of(call, call.id("topic_id"))
    async with call.connection() as conn:
        await categories.remove(conn, call.caller.project, slug=one.slug, by=call.by)
    return json_answer({"object": "topic", "id": _id_of(call, one), "deleted": True})


async def list_choices(call: RequestContext) -> Response:
    """List the topics, each with the choice of a contact."""
    query = page_query(call, ListPage)
    contact = await _contact(call)
    found = sorted(await _topics(call), key=lambda one: (one.created_at, one.slug), reverse=True)
    wanted = SuppressedList(CHOSEN, tuple(one.slug for one in found))
    listed = await find_address(call, wanted, contact.email)
    left = () if listed is None else listed.categories
    page, has_more = page_of(found, query, lambda one: _id_of(call, one))
    data = [
        {
            "id": _id_of(call, one),
            "name": one.name,
            "description": one.description or "",
            "subscription": "opt_out" if one.slug in left else "opt_in",
        }
        for one in page
    ]
    return list_answer(data, has_more)


async def choose(call: RequestContext) -> Response:
    """Change the choices of a contact: all of them, or none."""
    body = await body_of(call, TopicChoices)
    async with call.in_one_transaction():
        contact = await _contact(call)
        await choose_topics(call, contact, body.topics)
    chosen = [one.model_dump() for one in body.topics]
    ids = {"id": contact.id, "contact_id": contact.id}
    return json_answer({"object": "contact_topics", **ids, "topics": chosen})


async def choose_topics(
    call: RequestContext,
    contact: Contact,
    choices: Sequence[TopicChoice],
    *,
    is_new: bool = False,
) -> None:
    """Record the choices of a contact; the last one for a topic counts.

    `is_new`: they are those of a contact that is added, for which `opt_in` ends nothing.

    Raises:
        Forbidden: the key may not change suppressions.
        NotFound: there is no such topic.
    """
    if not choices:
        return
    check_may_change(call, Scope.SUPPRESSION_MANAGE)
    by_id = {_id_of(call, one): one for one in await _topics(call)}
    for topic_id, subscription in {one.id: one.subscription for one in choices}.items():
        if topic_id not in by_id:
            raise NotFound("topic", topic_id)
        slug = by_id[topic_id].slug
        left = await find_address(call, SuppressedList(CHOSEN, (slug,)), contact.email)
        if subscription == "opt_in" and left is not None and not is_new:
            await remove_address(call, left, provider="resend")
        elif subscription == "opt_out" and left is None:
            new = new_suppression(contact.email, reason="unsubscribed", category=slug)
            await add_addresses(call, [new])


async def _contact(call: RequestContext) -> Contact:
    check_may(call, Scope.CONTACTS_READ)
    async with call.connection() as conn:
        return await contacts.find(conn, call.caller.project_id, call.path["contact"])


async def _added(call: RequestContext, slug: str, fields: Mapping[str, object]) -> Category:
    """Return the new category; where the slug is taken already, digits are added to it."""
    project = call.caller.project
    async with call.connection() as conn:
        try:
            return await categories.add(conn, project, slug=slug, fields=fields, by=call.by)
        except Conflict:
            longer = f"{slug[:50]}-{uuid4().hex[:12]}"
            return await categories.add(conn, project, slug=longer, fields=fields, by=call.by)


async def _topics(call: RequestContext) -> list[Category]:
    async with call.connection() as conn:
        found = await categories.list_(conn, call.caller.project)
    return [one for one in found if not one.is_required]


async def topic_of(call: RequestContext, topic_id: UUID) -> Category:
    """Return a topic.

    Raises:
        NotFound: the project has none of the id.
    """
    for one in await _topics(call):
        if _id_of(call, one) == topic_id:
            return one
    raise NotFound("topic", topic_id)


def topic_id_of(call: RequestContext, slug: str) -> UUID:
    """Return the id of the topic of a category. Pure."""
    return uuid5(call.caller.project_id, f"topic {slug}")


def _id_of(call: RequestContext, one: Category) -> UUID:
    return topic_id_of(call, one.slug)


def _renamed(exc: InvalidField) -> InvalidField:
    """Return an error with Resend's name of its field. Pure."""
    return exc.named("name") if exc.field in ("slug", "is_required") else exc


def _shown(call: RequestContext, one: Category) -> dict[str, Any]:
    return {
        "id": _id_of(call, one),
        "name": one.name,
        "description": one.description or "",
        "default_subscription": "opt_in",
        "visibility": "public",
        "created_at": stamp(one.created_at),
    }


_ONE = "/topics/{topic_id}"
_CHOICES = "/contacts/{contact}/topics"
TOPIC_ENDPOINTS = (
    suppression_endpoint("POST", "/topics", "Add a topic.", create),
    suppression_endpoint("GET", "/topics", "List topics.", index),
    suppression_endpoint("GET", _ONE, "Show a topic.", show),
    suppression_endpoint("PATCH", _ONE, "Change a topic.", change),
    suppression_endpoint("DELETE", _ONE, "Remove a topic.", remove),
    suppression_endpoint("GET", _CHOICES, "List the topics of a contact.", list_choices),
    suppression_endpoint("PATCH", _CHOICES, "Change the topics of a contact.", choose),
)
