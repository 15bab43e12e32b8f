"""Mailgun's API: templates, whose texts are translated from Handlebars.

Follows documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/domain-templates. The name
of a template is its slug. The templates are those of the project: they are the same for each of its
domains, and for `/v4/templates`, which has those of an account there.
"""

from operator import attrgetter
from typing import Any, Literal

from starlette.responses import Response

from mailqueue.api.compat.handlebars.kept import (
    add_template,
    current_version,
    newest_text,
    own_template,
    own_templates,
)
from mailqueue.api.compat.mailgun.domains import check_domain
from mailqueue.api.compat.mailgun.faults import MissingParameter
from mailqueue.api.compat.mailgun.pages import MailgunNamedPage, page_of, paging_of
from mailqueue.api.compat.mailgun.template_tags import INITIAL, note_of
from mailqueue.api.compat.mailgun.template_texts import (
    TEXT_FIELDS,
    renamed_field,
    text_form,
    text_in,
)
from mailqueue.api.compat.mailgun.template_versions import (
    template_named,
    version_endpoints,
    version_shown,
)
from mailqueue.api.compat.model import template_endpoint
from mailqueue.api.compat.reading import query_of
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.core.errors import InvalidField
from mailqueue.templates import writing
from mailqueue.templates.model import TemplateRow

MAX_REMOVED = 100
"""Templates that are removed in one transaction."""


class MailgunTemplateQuery(RequestModel):
    """The query of one template."""

    active: Literal["yes", "no"] = "no"


async def index(call: RequestContext) -> Response:
    """List templates by name."""
    await _checked(call)
    query = query_of(call, MailgunNamedPage)
    page = page_of(await own_templates(call), query, attrgetter("slug"))
    paging = paging_of(call, query, [one.slug for one in page])
    return json_answer({"items": [template_named(one) for one in page], "paging": paging})


async def create(call: RequestContext) -> Response:
    """Add a template; with a text its first version, which is active at once."""
    await _checked(call)
    fields = ("name", "description", "createdBy", *(f for f in TEXT_FIELDS if f != "active"))
    form = await text_form(call, fields)
    name, given = form.one("name"), text_in(form)
    if name is None:
        raise MissingParameter("name")
    if given.template is None and (given.tag or given.comment or given.subject):
        raise MissingParameter("template")
    note = note_of(given.tag or INITIAL, given.comment)
    slug = name.lower()
    try:
        text = None if given.template is None else await call.in_turn(given.text)
        made = await add_template(
            call, slug=slug, name=slug, text=text, description=form.one("description"), note=note
        )
    except InvalidField as exc:
        raise renamed_field(exc) from exc
    shown = await _with_active(call, made)
    return json_answer({"message": "template has been stored", "template": shown})


async def show(call: RequestContext) -> Response:
    """Show a template; with `active=yes` also the text of its active version, in Jinja."""
    await _checked(call)
    query = query_of(call, MailgunTemplateQuery)
    one = await own_template(call, call.path["template"])
    shown = await _with_active(call, one) if query.active == "yes" else template_named(one)
    return json_answer({"template": shown})


async def change(call: RequestContext) -> Response:
    """Change the description of a template."""
    await _checked(call)
    form = await text_form(call, ("description",))
    description = form.one("description")
    if description is None:
        raise MissingParameter("description")
    one = await own_template(call, call.path["template"])
    async with call.connection() as conn:
        await writing.change(conn, one, changes={"description": description}, by=call.by)
    return json_answer({"message": "template has been updated", "template": {"name": one.slug}})


async def remove(call: RequestContext) -> Response:
    """Remove a template with its versions."""
    await _checked(call)
    one = await own_template(call, call.path["template"])
    async with call.connection() as conn:
        await writing.remove(conn, one, by=call.by)
    return json_answer({"message": "template has been deleted", "template": {"name": one.slug}})


async def remove_all(call: RequestContext) -> Response:
    """Remove all templates, some in each transaction; repeated, it goes on where it ended."""
    await _checked(call)
    found = await own_templates(call)
    for first in range(0, len(found), MAX_REMOVED):
        async with call.connection() as conn:
            await writing.remove_all(conn, found[first : first + MAX_REMOVED], by=call.by)
    return json_answer({"message": "templates have been deleted"})


async def _checked(call: RequestContext) -> None:
    if "domain" in call.path:
        await check_domain(call)


async def _with_active(call: RequestContext, one: TemplateRow) -> dict[str, Any]:
    version = await current_version(call, one)
    if version is None:
        return template_named(one)
    text = await newest_text(call, one, version)
    return {**template_named(one), "version": version_shown(version, text)}


def _endpoints_of(path: str) -> tuple[Endpoint, ...]:
    one = f"{path}/{{template}}"
    return (
        template_endpoint("GET", path, "List templates.", index),
        template_endpoint("POST", path, "Add a template.", create),
        template_endpoint("DELETE", path, "Remove all templates.", remove_all),
        template_endpoint("GET", one, "Show a template.", show),
        template_endpoint("PUT", one, "Change the description of a template.", change),
        template_endpoint("DELETE", one, "Remove a template.", remove),
        *version_endpoints(one),
    )


TEMPLATE_ENDPOINTS = (*_endpoints_of("/v3/{domain}/templates"), *_endpoints_of("/v4/templates"))
