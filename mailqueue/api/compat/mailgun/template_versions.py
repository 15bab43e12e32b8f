"""Mailgun's API: the versions of a template, which their tags name."""

from typing import Any

from starlette.responses import Response

from mailqueue.api.compat.handlebars.kept import (
    CheckVersion,
    accept_any,
    add_version,
    newest_text,
    own_template,
)
from mailqueue.api.compat.mailgun.address_lists import stamp
from mailqueue.api.compat.mailgun.domains import check_domain
from mailqueue.api.compat.mailgun.faults import MissingParameter
from mailqueue.api.compat.mailgun.pages import MailgunNamedPage, page_of, paging_of
from mailqueue.api.compat.mailgun.template_tags import (
    check_untaken,
    find_tagged,
    newest_by_tag,
    note_of,
    tag_of,
    taken,
)
from mailqueue.api.compat.mailgun.template_texts import (
    NO_SUBJECT,
    TEXT_FIELDS,
    renamed_field,
    text_form,
    text_in,
)
from mailqueue.api.compat.model import template_endpoint
from mailqueue.api.compat.reading import query_of
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.templates import versions
from mailqueue.templates.model import NewText, StoredText, TemplateRow, VersionRow

MAX_VERSIONS = 1_000
"""Newest versions of a template of which the tags are listed."""


class MailgunCopyQuery(RequestModel):
    """The query of a copy of a version."""

    comment: StorableText | None = None


async def index(call: RequestContext) -> Response:
    """List the versions of a template by tag, without their texts."""
    template = await _template(call)
    query = query_of(call, MailgunNamedPage)
    async with call.connection() as conn:
        found = newest_by_tag(await versions.list_all(conn, template, limit=MAX_VERSIONS))
    page = page_of(found, query, lambda one: tag_of(one)[0])
    shown = [version_shown(one) for one in page]
    paging = paging_of(call, query, [one["tag"] for one in shown])
    return json_answer(
        {"template": {**template_named(template), "versions": shown}, "paging": paging}
    )


async def create(call: RequestContext) -> Response:
    """Add a version; with `active=yes`, and if it is the first, it is active at once."""
    template = await _template(call)
    given = text_in(await text_form(call, TEXT_FIELDS))
    if given.template is None:
        raise MissingParameter("template")
    if given.tag is None:
        raise MissingParameter("tag")
    if await _is_taken(call, template, given.tag):
        raise taken(given.tag)
    text = await call.in_turn(given.text)
    is_active = bool(given.is_active) or template.published is None
    note = note_of(given.tag, given.comment)
    made = await _added(
        call,
        template,
        text,
        note=note,
        is_published=is_active,
        check=lambda conn, version: check_untaken(conn, template, version),
    )
    shown = {
        **template_named(template),
        "version": version_shown(made, await _text(call, template, made)),
    }
    message = "new version of the template has been stored"
    return json_answer({"message": message, "template": shown})


async def show(call: RequestContext) -> Response:
    """Show a version with its text, in Jinja."""
    template = await _template(call)
    one = await find_tagged(call, template, call.path["tag"])
    shown = version_shown(one, await _text(call, template, one))
    return json_answer({"template": {**template_named(template), "version": shown}})


async def change(call: RequestContext) -> Response:
    """Make a version active, or add the next one of its tag with another text or comment."""
    template = await _template(call)
    form = await text_form(call, ("template", "comment", "headers", "engine", "active"))
    given = text_in(form)
    one = await find_tagged(call, template, call.path["tag"])
    tag, comment = tag_of(one)
    if given.is_active is False and one.version == template.published:
        raise InvalidField("active", "make another version active instead")
    if (given.template, given.subject, given.comment) == (None, None, None):
        if given.is_active is None:
            raise MissingParameter("template")
        if given.is_active:
            process = call.services.compile_process
            await versions.publish(call.connection, process, template, one, by=call.by)
    else:
        before = await _text(call, template, one)
        text = await call.in_turn(lambda: given.text(before))
        is_active = one.version == template.published or bool(given.is_active)
        note = note_of(tag, comment if given.comment is None else given.comment)
        await _added(call, template, text, note=note, is_published=is_active, before=one)
    shown = {"name": template.slug, "version": {"tag": tag}}
    return json_answer({"message": "version has been updated", "template": shown})


async def copy(call: RequestContext) -> Response:
    """Add a version, or the next one of a tag, with the text of another."""
    template = await _template(call)
    query = query_of(call, MailgunCopyQuery)
    one = await find_tagged(call, template, call.path["tag"])
    try:
        replaced = await find_tagged(call, template, call.path["new_tag"])
    except NotFound:
        replaced = None
    note = note_of(call.path["new_tag"], query.comment)
    is_active = replaced is not None and replaced.version == template.published
    stored = await _text(call, template, one)
    text = NewText(stored.subject, stored.html_body, stored.text_body)
    made = await _added(call, template, text, note=note, is_published=is_active, before=one)
    shown = version_shown(made, stored)
    return json_answer({"message": "version has been copied", "version": shown, "template": shown})


async def _template(call: RequestContext) -> TemplateRow:
    if "domain" in call.path:
        await check_domain(call)
    return await own_template(call, call.path["template"])


async def _is_taken(call: RequestContext, template: TemplateRow, tag: str) -> bool:
    try:
        return tag_of(await find_tagged(call, template, tag))[0] == tag
    except NotFound:
        return False


async def _added(
    call: RequestContext,
    template: TemplateRow,
    text: NewText,
    *,
    note: str,
    is_published: bool,
    before: VersionRow | None = None,
    check: CheckVersion = accept_any,
) -> VersionRow:
    try:
        return await add_version(
            call, template, text, before=before, note=note, is_published=is_published, check=check
        )
    except InvalidField as exc:
        raise renamed_field(exc) from exc


async def _text(call: RequestContext, template: TemplateRow, one: VersionRow) -> StoredText:
    found = await newest_text(call, template, one)
    assert found is not None, "a version has a text in the language of its template"
    return found


def template_named(one: TemplateRow) -> dict[str, Any]:
    """Return a template without its texts. Pure."""
    return {
        "name": one.slug,
        "description": one.description or "",
        "createdAt": stamp(one.created_at),
        "createdBy": one.created_by,
        "id": str(one.id),
    }


def version_shown(one: VersionRow, text: StoredText | None = None) -> dict[str, Any]:
    """Return a version, with its text where that is given. Pure."""
    tag, comment = tag_of(one)
    shown = {
        "tag": tag,
        "engine": "handlebars",
        "mjml": "",
        "createdAt": stamp(one.created_at),
        "comment": comment,
        "active": one.status == "published",
        "id": str(one.id),
    }
    if text is not None:
        shown["template"] = text.html_body or text.text_body or ""
        shown["headers"] = {} if text.subject == NO_SUBJECT else {"Subject": text.subject}
    return shown


def version_endpoints(template: str) -> tuple[Endpoint, ...]:
    """Return the endpoints of the versions below the path of a template."""
    path = f"{template}/versions"
    one = f"{path}/{{tag}}"
    return (
        template_endpoint("GET", path, "List the versions of a template.", index),
        template_endpoint("POST", path, "Add a version of a template.", create),
        template_endpoint("GET", one, "Show a version of a template.", show),
        template_endpoint("PUT", one, "Change a version, or make it active.", change),
        template_endpoint("PUT", f"{one}/copy/{{new_tag}}", "Copy a version.", copy),
    )
