"""Resend's API: templates.

Follows resend.com/docs/api-reference/templates. The alias of a template is its slug. What is shown
and changed is the newest version; mail has the published one.
"""

import re
import secrets
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from pydantic import BaseModel, ValidationError
from starlette.responses import Response

from mailqueue.api.compat.handlebars.kept import (
    add_template,
    add_version,
    in_language,
    own_template,
    own_templates,
)
from mailqueue.api.compat.model import template_endpoint
from mailqueue.api.compat.reading import document_of
from mailqueue.api.compat.resend.faults import invalid_document
from mailqueue.api.compat.resend.pages import ListPage, list_answer, page_of, page_query
from mailqueue.api.compat.resend.template_model import (
    ResendNewTemplate,
    ResendTemplateChange,
    check_whole,
    schema_of,
    text_of,
    variables_shown,
)
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.validation import validated
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.templates import versions, writing
from mailqueue.templates.model import NewText, StoredText, TemplateRow, VersionRow, VersionStatus

MAX_BODY_BYTES = 2 * 1024 * 1024
_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")
_NAMES = {
    "slug": "alias",
    "html_body": "html",
    "text_body": "text",
    "variables_schema": "variables",
}
Body = TypeVar("Body", bound=BaseModel)


async def create(call: RequestContext) -> Response:
    """Add a template, of which mail is accepted once it is published."""
    body = await _body(call, ResendNewTemplate)
    _check_absent(body)
    schema = None if body.variables is None else schema_of(body.variables)
    text = await call.in_turn(lambda: text_of(body, schema))
    return await _added(call, body.name, text, schema, slug=body.alias)


async def index(call: RequestContext) -> Response:
    """List templates, newest first."""
    query = page_query(call, ListPage)
    found = await own_templates(call)
    found.sort(key=lambda one: (one.created_at, one.id), reverse=True)
    page, has_more = page_of(found, query, lambda one: one.id)
    async with call.connection() as conn:
        shown = [_listed(one, await _published_at(conn, one)) for one in page]
    return list_answer(shown, has_more)


async def show(call: RequestContext) -> Response:
    """Show a template with its newest texts, in Jinja."""
    one = await _found(call)
    async with call.connection() as conn:
        version, text = await _newest(conn, one)
        at = await _published_at(conn, one)
    document = {
        "object": "template",
        **_listed(one, at),
        "current_version_id": version.id,
        "from": None,
        "reply_to": None,
        "subject": text.subject,
        "html": text.html_body,
        "text": text.text_body,
        "variables": variables_shown(version.variables_schema),
        "has_unpublished_versions": version.status != VersionStatus.PUBLISHED,
    }
    return json_answer(document)


async def change(call: RequestContext) -> Response:
    """Change a template: texts become its next version, which mail has once it is published."""
    body = await _body(call, ResendTemplateChange)
    one = await _found(call)
    _check_absent(body)
    if body.alias is not None and body.alias != one.slug:
        raise InvalidField("alias", "cannot be changed: add a template with the other alias")
    given = (body.subject, body.html, body.text, body.variables)
    try:
        if any(each is not None for each in given):
            async with call.connection() as conn:
                before, stored = await _newest(conn, one)
            schema = before.variables_schema
            if body.variables is not None:
                check_whole(body, stored)
                schema = schema_of(body.variables)
            text = await call.in_turn(lambda: text_of(body, schema, stored))
            await add_version(
                *(call, one, text), before=before, name=body.name, schema=schema, is_published=False
            )
        elif body.name is not None:
            async with call.connection() as conn:
                await writing.change(conn, one, changes={"name": body.name}, by=call.by)
    except InvalidField as exc:
        raise _named(exc) from exc
    return _answer(one.id)


async def publish(call: RequestContext) -> Response:
    """Publish the newest version: mail accepted from now on has it."""
    one = await _found(call)
    async with call.connection() as conn:
        version, _ = await _newest(conn, one)
    if version.status != VersionStatus.PUBLISHED:
        process = call.services.compile_process
        await versions.publish(call.connection, process, one, version, by=call.by)
    return _answer(one.id)


async def duplicate(call: RequestContext) -> Response:
    """Add a template with the newest texts of another, which is not published."""
    one = await _found(call)
    async with call.connection() as conn:
        version, text = await _newest(conn, one)
    words = NewText(text.subject, text.html_body, text.text_body)
    name = f"{one.name[:190]} (Copy)"
    return await _added(call, name, words, version.variables_schema)


async def remove(call: RequestContext) -> Response:
    """Remove a template with its versions."""
    one = await _found(call)
    async with call.connection() as conn:
        await writing.remove(conn, one, by=call.by)
    return json_answer({"object": "template", "id": one.id, "deleted": True})


async def _added(
    call: RequestContext,
    name: str,
    text: NewText,
    schema: dict[str, Any] | None,
    *,
    slug: str | None = None,
) -> Response:
    if slug is None:
        words = _NOT_IN_SLUG.sub("-", name.lower()).strip("-")[:80].rstrip("-") or "template"
        slug = f"{words}-{secrets.token_hex(4)}"
    try:
        made = await add_template(
            call, slug=slug, name=name, text=text, schema=schema, is_published=False
        )
    except InvalidField as exc:
        raise _named(exc) from exc
    return _answer(made.id, status=201)


async def _found(call: RequestContext) -> TemplateRow:
    """Return the template that the path names by id or alias.

    Raises:
        NotFound: the project has no such template.
    """
    given = call.path["template_id"]
    try:
        return await own_template(call, given)
    except NotFound:
        raise NotFound("template", given[:100]) from None


async def _newest(conn: Conn, one: TemplateRow) -> tuple[VersionRow, StoredText]:
    """Return the newest version and its text in the template's language.

    Raises:
        NotFound: there is no version.
    """
    if one.newest is None:
        raise NotFound("version", f"of template {one.slug}")
    version = await versions.find(conn, one, number=one.newest)
    return version, in_language(await versions.texts_of(conn, version), one.language)


async def _published_at(conn: Conn, one: TemplateRow) -> datetime | None:
    if one.published is None:
        return None
    return (await versions.find(conn, one, number=one.published)).published_at


async def _body(call: RequestContext, model: type[Body]) -> Body:
    document = await document_of(call, max_bytes=MAX_BODY_BYTES)
    try:
        return validated(model, document, call.values)
    except ValidationError as exc:
        raise invalid_document(exc) from None


def _check_absent(body: ResendTemplateChange) -> None:
    """Check that a body has no sender, which templates have none of here.

    Raises:
        InvalidField: it has one.
    """
    for name, given in (("from", body.sender), ("reply_to", body.reply_to)):
        if given:
            raise InvalidField(name, "is not kept in a template: give it with each email")


def _named(exc: InvalidField) -> InvalidField:
    """Return an error with Resend's name of its field. Pure."""
    return exc.named(_NAMES.get(exc.field, exc.field))


def _answer(template_id: UUID, *, status: int = 200) -> Response:
    return json_answer({"object": "template", "id": template_id}, status=status)


def _listed(one: TemplateRow, published_at: datetime | None) -> dict[str, Any]:
    return {
        "id": one.id,
        "name": one.name,
        "alias": one.slug,
        "status": "draft" if one.published is None else "published",
        "published_at": None if published_at is None else stamp(published_at),
        "created_at": stamp(one.created_at),
        "updated_at": stamp(one.updated_at),
    }


_ONE = "/templates/{template_id}"
TEMPLATE_ENDPOINTS = (
    template_endpoint("POST", "/templates", "Add a template.", create),
    template_endpoint("GET", "/templates", "List templates.", index),
    template_endpoint("GET", _ONE, "Show a template.", show),
    template_endpoint("PATCH", _ONE, "Change a template.", change),
    template_endpoint("POST", f"{_ONE}/publish", "Publish a template.", publish),
    template_endpoint("POST", f"{_ONE}/duplicate", "Copy a template.", duplicate),
    template_endpoint("DELETE", _ONE, "Remove a template.", remove),
)
