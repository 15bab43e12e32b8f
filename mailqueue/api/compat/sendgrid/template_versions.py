"""SendGrid's API: the versions of a dynamic template."""

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.handlebars.kept import (
    add_version,
    in_language,
    newest_text,
    own_template,
)
from mailqueue.api.compat.handlebars.translation import jinja_of
from mailqueue.api.compat.model import template_endpoint
from mailqueue.api.compat.sendgrid.suppressions import body_of, refuse_subuser
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.templates import versions
from mailqueue.templates.model import NewText, StoredText, TemplateRow, VersionRow

MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_VERSIONS = 300
"""Most versions that are shown with a template, as at SendGrid."""
_NAMES = {"html_body": "html_content", "text_body": "plain_content", "note": "name"}
_Active = Annotated[int, Field(ge=0, le=1)]


class DynamicVersionChange(StrictRequestModel):
    """The body of PATCH /v3/templates/{template_id}/versions/{version_id}.

    `editor` and `test_data` are of SendGrid's editor and have no effect.
    """

    name: StorableText | None = Field(default=None, min_length=1, max_length=100)
    subject: StorableText | None = Field(default=None, max_length=255)
    html_content: StorableText | None = None
    plain_content: StorableText | None = None
    generate_plain_content: bool | None = None
    active: _Active | None = None
    editor: StorableText | None = None
    test_data: StorableText | None = None


class NewDynamicVersion(DynamicVersionChange):
    """The body of POST /v3/templates/{template_id}/versions."""

    name: StorableText = Field(min_length=1, max_length=100)
    subject: StorableText = Field(max_length=255)


async def create(call: RequestContext) -> Response:
    """Add a version; unless it is inactive, mail of the template has it from now on."""
    refuse_subuser(call.request)
    body = await body_of(call, NewDynamicVersion, max_bytes=MAX_BODY_BYTES)
    template = await template_id_of(call)
    text = await call.in_turn(lambda: _text(body))
    made = await _added(call, template, body, text)
    return json_answer(await _shown(call, template, made), status=HTTPStatus.CREATED)


async def show(call: RequestContext) -> Response:
    """Show a version with its texts, in Jinja."""
    refuse_subuser(call.request)
    template = await template_id_of(call)
    return json_answer(await _shown(call, template, await _version(call, template)))


async def change(call: RequestContext) -> Response:
    """Activate a version, or add the next one with other texts; what is left out stays."""
    refuse_subuser(call.request)
    body = await body_of(call, DynamicVersionChange, max_bytes=MAX_BODY_BYTES)
    template = await template_id_of(call)
    one = await _version(call, template)
    is_published = one.version == template.published
    before = await newest_text(call, template, one)
    is_made_plain = body.generate_plain_content and before is not None and before.text_body
    given = (body.name, body.subject, body.html_content, body.plain_content, is_made_plain or None)
    if all(each is None for each in given):
        if body.active:
            return await activate(call)
        if is_published and body.active == 0:
            raise InvalidField("active", "activate another version instead")
        return json_answer(await _shown(call, template, one))
    text = await call.in_turn(lambda: _text(body, before))
    is_active = is_published if body.active is None else bool(body.active)
    kept = body.model_copy(update={"name": body.name or one.note, "active": int(is_active)})
    made = await _added(call, template, kept, text, before=one)
    return json_answer(await _shown(call, template, made))


async def activate(call: RequestContext) -> Response:
    """Have mail of the template use a version from now on."""
    refuse_subuser(call.request)
    template = await template_id_of(call)
    one = await _version(call, template)
    process = call.services.compile_process
    made = await versions.publish(call.connection, process, template, one, by=call.by)
    return json_answer(await _shown(call, template, made))


async def template_id_of(call: RequestContext) -> TemplateRow:
    """Return the template of the path.

    Raises:
        NotFound: the project has no such template.
    """
    return await own_template(call, call.path["template_id"])


async def template_shown(call: RequestContext, one: TemplateRow) -> dict[str, Any]:
    """Return a template with its versions, newest first, without their texts."""
    async with call.connection() as conn:
        found = await versions.list_all(conn, one, limit=MAX_VERSIONS)
    return {
        "id": str(one.id),
        "name": one.name,
        "generation": "dynamic",
        "updated_at": _stamp(one.updated_at),
        "versions": [_listed(one, each) for each in found],
    }


async def _added(
    call: RequestContext,
    template: TemplateRow,
    body: DynamicVersionChange,
    text: NewText,
    *,
    before: VersionRow | None = None,
) -> VersionRow:
    is_published = body.active != 0
    try:
        return await add_version(
            call, template, text, before=before, note=body.name, is_published=is_published
        )
    except InvalidField as exc:
        raise exc.named(_NAMES.get(exc.field, exc.field)) from exc


async def _version(call: RequestContext, template: TemplateRow) -> VersionRow:
    given = call.path["version_id"]
    async with call.connection() as conn:
        try:
            return await versions.find(conn, template, version_id=UUID(given))
        except ValueError:
            raise NotFound("version", given[:100]) from None


def _text(body: DynamicVersionChange, before: StoredText | None = None) -> NewText:
    """Return the texts of a body in Jinja; those it leaves out are as before.

    Raises:
        InvalidField: one cannot be translated, or there is neither HTML nor text.
    """
    subject = "" if before is None else before.subject
    html = None if before is None else before.html_body
    plain = None if before is None else before.text_body
    if body.subject is not None:
        subject = jinja_of(body.subject, field="subject")
    if body.html_content is not None:
        html = jinja_of(body.html_content, field="html_content") or None
    if body.plain_content is not None:
        plain = jinja_of(body.plain_content, field="plain_content") or None
    if html is not None and (body.generate_plain_content or not plain):
        plain = None  # made from the HTML of each mail
    if html is None and plain is None:
        raise InvalidField("html_content", "give html_content, plain_content or both")
    return NewText(subject, html, plain)


async def _shown(call: RequestContext, template: TemplateRow, one: VersionRow) -> dict[str, Any]:
    async with call.connection() as conn:
        text = in_language(await versions.texts_of(conn, one), template.language)
    return {
        **_listed(template, one),
        "subject": text.subject,
        "html_content": text.html_body or "",
        "plain_content": text.text_body or "",
        "generate_plain_content": text.text_body is None,
        "warnings": [],
    }


def _listed(template: TemplateRow, one: VersionRow) -> dict[str, Any]:
    return {
        "id": str(one.id),
        "template_id": str(template.id),
        "name": one.note or f"Version {one.version}",
        "active": int(one.status == "published"),
        "editor": "code",
        "updated_at": _stamp(one.published_at or one.created_at),
    }


def _stamp(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


_PATH = "/v3/templates/{template_id}/versions"
_ONE = f"{_PATH}/{{version_id}}"
VERSION_ENDPOINTS = (
    template_endpoint("POST", _PATH, "Add a version of a template.", create),
    template_endpoint("GET", _ONE, "Show a version of a template.", show),
    template_endpoint("PATCH", _ONE, "Add the next version, or activate one.", change),
    template_endpoint("POST", f"{_ONE}/activate", "Activate a version of a template.", activate),
)
