"""Postmark's API: templates, whose texts are translated from Mustachio.

Follows postmarkapp.com/developer/api/templates-api. The alias of a template is its slug; one
without an alias has its number as slug.
"""

import secrets
from http import HTTPStatus
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_pascal
from starlette.exceptions import HTTPException
from starlette.responses import Response

from mailqueue.api.compat.handlebars.kept import (
    add_template,
    add_version,
    newest_text,
    own_template,
    own_templates,
)
from mailqueue.api.compat.handlebars.translation import jinja_of
from mailqueue.api.compat.model import template_endpoint
from mailqueue.api.compat.postmark.faults import ErrorCode, error_of, invalid_document
from mailqueue.api.compat.postmark.layouts import WithoutLayout
from mailqueue.api.compat.postmark.validating import VALIDATING_ENDPOINTS
from mailqueue.api.compat.reading import document_of, query_of
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.api.http.validation import validated
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.templates import writing
from mailqueue.templates.model import NewText, StoredText, TemplateRow
from mailqueue.webhooks.formats.postmark import SERVER_ID
from mailqueue.webhooks.formats.values import number_of

MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_LISTED = 500
_NUMBER_DIGITS = 9
_NAMES = {
    "slug": "Alias",
    "name": "Name",
    "subject": "Subject",
    "html_body": "HtmlBody",
    "text_body": "TextBody",
}
Body = TypeVar("Body", bound=BaseModel)


class ChangedTemplate(WithoutLayout):
    """The body of PUT /templates/{template}."""

    model_config = ConfigDict(alias_generator=to_pascal)

    name: StorableText | None = None
    alias: StorableText | None = None
    subject: StorableText | None = None
    html_body: StorableText | None = None
    text_body: StorableText | None = None


class AddedTemplate(ChangedTemplate):
    """The body of POST /templates."""

    name: StorableText
    subject: StorableText


class TemplateQuery(RequestModel):
    """The query of GET /templates."""

    count: int = Field(ge=1, le=MAX_LISTED)
    offset: int = Field(ge=0, le=10_000)
    templatetype: Literal["Standard", "Layout", "All"] = "All"
    layouttemplate: StorableText | None = None


async def create(call: RequestContext) -> Response:
    """Add a template, of which mail can be sent at once."""
    body = await _body(call, AddedTemplate)
    slug = body.alias or str(secrets.randbelow(9 * 10 ** (_NUMBER_DIGITS - 1)) + 10**8)
    try:
        text = await call.in_turn(lambda: _text(body))
        made = await add_template(call, slug=slug, name=body.name, text=text)
    except InvalidField as exc:
        raise _named(exc) from exc
    return json_answer(_shown(made))


async def index(call: RequestContext) -> Response:
    """List templates."""
    query = query_of(call, TemplateQuery)
    found = [] if query.templatetype == "Layout" else await own_templates(call)
    if query.layouttemplate:
        found = []
    page = found[query.offset : query.offset + query.count]
    return json_answer({"TotalCount": len(found), "Templates": [_shown(one) for one in page]})


async def show(call: RequestContext) -> Response:
    """Show a template with its texts, in Jinja."""
    one = await _found(call)
    text = await newest_text(call, one)
    return json_answer({**_shown(one), **_words(text), "AssociatedServerId": SERVER_ID})


async def change(call: RequestContext) -> Response:
    """Change a template; what is left out stays. Texts become a new version, which is published.

    Raises:
        HTTPException: it is a push to another server, which is another project.
    """
    if call.path["template"] == "push":
        raise HTTPException(HTTPStatus.NOT_FOUND, "PUT /templates/push is not supported here")
    body = await _body(call, ChangedTemplate)
    one = await _found(call)
    if body.alias is not None and body.alias != one.slug:
        raise InvalidField("Alias", "cannot be changed: add a template with the other alias")
    text = await newest_text(call, one)
    try:
        if body.subject is not None or body.html_body is not None or body.text_body is not None:
            words = await call.in_turn(lambda: _text(body, text))
            await add_version(call, one, words, name=body.name)
        elif body.name is not None:
            async with call.connection() as conn:
                await writing.change(conn, one, changes={"name": body.name}, by=call.by)
    except InvalidField as exc:
        raise _named(exc) from exc
    return json_answer(_shown(await own_template(call, str(one.id))))


async def remove(call: RequestContext) -> Response:
    """Remove a template."""
    one = await _found(call)
    async with call.connection() as conn:
        await writing.remove(conn, one, by=call.by)
    return json_answer(error_of(ErrorCode.OK, f"Template {_number(one)} removed."))


def _text(body: ChangedTemplate, before: StoredText | None = None) -> NewText:
    """Return the texts of a body in Jinja; those it leaves out are as before.

    Raises:
        InvalidField: one cannot be translated, or there is neither HTML nor text.
    """

    def translated(text: str | None, field: str, otherwise: str | None) -> str | None:
        if text is None:
            return otherwise
        return jinja_of(text, field=field, has_sections=True) or None

    subject = translated(body.subject, "Subject", None if before is None else before.subject)
    html = translated(body.html_body, "HtmlBody", None if before is None else before.html_body)
    plain = translated(body.text_body, "TextBody", None if before is None else before.text_body)
    if html is None and plain is None:
        raise InvalidField("HtmlBody", "give HtmlBody, TextBody or both")
    return NewText(subject or "", html, plain)


async def _found(call: RequestContext) -> TemplateRow:
    """Return the template that a path names by number or alias.

    Raises:
        NotFound: the project has no such template.
    """
    given = call.path["template"]
    try:
        return await own_template(call, given)
    except NotFound:
        if not (given.isascii() and given.isdigit()):
            raise
    for one in await own_templates(call):
        if str(_number(one)) == given:
            return one
    raise NotFound("template", given[:100])


async def _body(call: RequestContext, model: type[Body]) -> Body:
    document = await document_of(call, max_bytes=MAX_BODY_BYTES)
    try:
        return validated(model, document, call.values)
    except ValidationError as exc:
        raise invalid_document(exc) from None


def _named(exc: InvalidField) -> InvalidField:
    """Return an error with Postmark's name of its field. Pure."""
    return exc.named(_NAMES.get(exc.field, exc.field))


def _number(one: TemplateRow) -> int:
    return int(one.slug) if _is_number(one) else number_of(one.id)


def _is_number(one: TemplateRow) -> bool:
    return one.slug.isascii() and one.slug.isdigit() and len(one.slug) <= 16


def _shown(one: TemplateRow) -> dict[str, Any]:
    return {
        "TemplateId": _number(one),
        "Name": one.name,
        "Alias": None if _is_number(one) else one.slug,
        "Active": one.published is not None,
        "TemplateType": "Standard",
        "LayoutTemplate": None,
    }


def _words(text: StoredText | None) -> dict[str, Any]:
    if text is None:
        return {"Subject": "", "HtmlBody": None, "TextBody": None}
    return {"Subject": text.subject, "HtmlBody": text.html_body, "TextBody": text.text_body}


_ONE = "/templates/{template}"
TEMPLATE_ENDPOINTS = (
    *VALIDATING_ENDPOINTS,
    template_endpoint("POST", "/templates", "Add a template.", create),
    template_endpoint("GET", "/templates", "List templates.", index),
    template_endpoint("GET", _ONE, "Show a template.", show),
    template_endpoint("PUT", _ONE, "Change a template.", change),
    template_endpoint("DELETE", _ONE, "Remove a template.", remove),
)
