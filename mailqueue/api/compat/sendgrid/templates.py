"""SendGrid's API: dynamic templates and their versions, whose texts are translated from Handlebars.

Follows twilio.com/docs/sendgrid/api-reference/transactional-templates. The id of a template is that
of ours; mail names it. The content of a version never changes here: changing it adds the next one.
"""

import re
import secrets
from http import HTTPStatus
from typing import Any, Literal

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.handlebars.kept import (
    add_template,
    newest_text,
    own_templates,
)
from mailqueue.api.compat.model import template_endpoint
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.sendgrid.suppressions import body_of, refuse_subuser
from mailqueue.api.compat.sendgrid.template_versions import (
    VERSION_ENDPOINTS,
    template_id_of,
    template_shown,
)
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel
from mailqueue.core.errors import InvalidField
from mailqueue.templates import writing
from mailqueue.templates.model import NewText

MAX_LISTED = 200
_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")


class NewDynamicTemplate(StrictRequestModel):
    """The body of POST /v3/templates."""

    name: StorableText = Field(min_length=1, max_length=100)
    generation: Literal["dynamic", "legacy"] = "dynamic"


class NamedTemplate(StrictRequestModel):
    """The body of requests that name a template."""

    name: StorableText = Field(min_length=1, max_length=100)


class DynamicTemplateQuery(RequestModel):
    """The query of GET /v3/templates."""

    generations: StorableText = "legacy,dynamic"
    page_size: int | None = Field(default=None, ge=1, le=MAX_LISTED)
    page_token: StorableText | None = None


async def create(call: RequestContext) -> Response:
    """Add a template without a version."""
    refuse_subuser(call.request)
    body = await body_of(call, NewDynamicTemplate)
    if body.generation == "legacy":
        raise InvalidField("generation", "must be dynamic")
    return await _added(call, body.name)


async def index(call: RequestContext) -> Response:
    """List templates with their versions."""
    refuse_subuser(call.request)
    query = query_of(call, DynamicTemplateQuery)
    kinds = {one.strip() for one in query.generations.split(",")}
    found = await own_templates(call, after=query.page_token) if "dynamic" in kinds else []
    page = found[: query.page_size or MAX_LISTED]
    shown = [await template_shown(call, one) for one in page]
    if query.page_size is None:
        return json_answer({"templates": shown})
    metadata: dict[str, Any] = {"count": len(found)}
    if len(found) > len(page):
        metadata["next_page_token"] = page[-1].slug
    return json_answer({"result": shown, "_metadata": metadata})


async def show(call: RequestContext) -> Response:
    """Show a template with its versions."""
    refuse_subuser(call.request)
    return json_answer(await template_shown(call, await template_id_of(call)))


async def rename(call: RequestContext) -> Response:
    """Change the name of a template."""
    refuse_subuser(call.request)
    body, one = await body_of(call, NamedTemplate), await template_id_of(call)
    async with call.connection() as conn:
        one = await writing.change(conn, one, changes={"name": body.name}, by=call.by)
    return json_answer(await template_shown(call, one))


async def copy(call: RequestContext) -> Response:
    """Add a template with the text of another."""
    refuse_subuser(call.request)
    body, one = await body_of(call, NamedTemplate), await template_id_of(call)
    text = await newest_text(call, one)
    if text is None:
        return await _added(call, body.name)
    return await _added(call, body.name, NewText(text.subject, text.html_body, text.text_body))


async def remove(call: RequestContext) -> Response:
    """Remove a template with its versions."""
    refuse_subuser(call.request)
    one = await template_id_of(call)
    async with call.connection() as conn:
        await writing.remove(conn, one, by=call.by)
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def _added(call: RequestContext, name: str, text: NewText | None = None) -> Response:
    words = _NOT_IN_SLUG.sub("-", name.lower()).strip("-")[:80] or "template"
    slug = f"{words}-{secrets.token_hex(4)}"
    made = await add_template(call, slug=slug, name=name, text=text)
    return json_answer(await template_shown(call, made), status=HTTPStatus.CREATED)


_PATH = "/v3/templates"
_ONE = f"{_PATH}/{{template_id}}"
TEMPLATE_ENDPOINTS = (
    template_endpoint("POST", _PATH, "Add a template.", create),
    template_endpoint("GET", _PATH, "List templates.", index),
    template_endpoint("GET", _ONE, "Show a template.", show),
    template_endpoint("PATCH", _ONE, "Rename a template.", rename),
    template_endpoint("POST", _ONE, "Copy a template.", copy),
    template_endpoint("DELETE", _ONE, "Remove a template.", remove),
    *VERSION_ENDPOINTS,
)
