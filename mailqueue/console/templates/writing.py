"""Pages that write templates: a new one, and a new version."""

import json
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.page import SOURCE_BYTES, ConsolePage, act_pages
from mailqueue.console.templates.owner import (
    OWNERS,
    acting_once,
    connection,
    find_own_template,
    owner_of,
    path_of,
)
from mailqueue.core.errors import Conflict, InvalidField, ProjectFull
from mailqueue.templates import versions, writing
from mailqueue.templates.model import (
    NewTemplate,
    NewText,
    NewVersion,
    StoredText,
    TemplateRow,
    VersionRow,
)
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence

DETAILS = ("name", "description", "category", "language")
BODIES = ("html_body", "text_body", "variables_schema")


async def ask_new(context: PageContext) -> Response:
    """Show the form of a new template."""
    return _new(context, {name: context.query(name) for name in ("slug", *DETAILS)})


async def create(context: PageContext) -> Response:
    """Create a template without a version."""
    typed = {name: text_of(context.form, name) for name in ("slug", *DETAILS)}
    given = {name: value or None for name, value in typed.items() if name != "slug"}
    new = NewTemplate(typed["slug"], **given)
    try:
        async with acting_once(context) as conn:
            made = await writing.create(conn, owner_of(context), new=new, by=context.user.by)
    except DoneBefore:
        return context.redirect(path_of(context, done="before"))
    except InvalidField as exc:
        return _new(context, typed, {exc.field: sentence(exc.why)})
    except (Conflict, ProjectFull) as exc:
        return _new(context, typed, {"slug": sentence(str(exc))})
    return context.redirect(path_of(context, made.id, done="created"))


async def ask_version(context: PageContext) -> Response:
    """Show the newest version in a form, of which a new one is made."""
    template, newest, texts = await _newest(context)
    own = texts.get(template.language)
    schema = newest.variables_schema if newest is not None else None
    typed = {
        "subject": context.query("subject") or (own.subject if own else ""),
        "html_body": (own.html_body if own else None) or "",
        "text_body": (own.text_body if own else None) or "",
        "variables_schema": "" if schema is None else json.dumps(schema, ensure_ascii=False),
        "inline_css": "on" if newest is not None and newest.is_css_inlined else "",
        "note": context.query("note"),
    }
    return _version(context, template, typed, texts)


async def add_version(context: PageContext) -> Response:
    """Store a new version as a draft; texts in other languages are those of the newest."""
    template, _, texts = await _newest(context)
    form = context.form
    typed = {name: text_of(form, name) for name in ("subject", "note", "inline_css")}
    typed |= {name: form.get(name, "").replace("\r\n", "\n") for name in BODIES}
    try:
        new = _new_version(template, typed, texts)
        compiler = context.console.compile_process
        # Compiled first: no transaction is open while the process works.
        drafted = await versions.draft(partial(connection, context), compiler, template, new=new)
        async with acting_once(context) as conn:
            await versions.add_drafted(conn, template, drafted, by=context.user.by)
    except DoneBefore:
        return context.redirect(path_of(context, template.id, done="before"))
    except InvalidField as exc:
        field = exc.field if exc.field in typed else "html_body"
        return _version(context, template, typed, texts, {field: sentence(exc.why)})
    return context.redirect(path_of(context, template.id, done="version"))


def _new_version(
    template: TemplateRow, typed: Mapping[str, str], texts: Mapping[str, StoredText]
) -> NewVersion:
    """Return the version that was typed, with the texts of the newest in other languages. Pure.

    Raises:
        InvalidField: the subject or both bodies are missing, or the schema is not JSON.
    """
    if not typed["subject"]:
        raise InvalidField("subject", "is needed")
    if not (typed["html_body"].strip() or typed["text_body"].strip()):
        raise InvalidField("html_body", "a version needs an HTML body or a text body")
    own = NewText(typed["subject"], typed["html_body"] or None, typed["text_body"] or None)
    others = {
        language: NewText(text.subject, text.html_body, text.text_body)
        for language, text in texts.items()
        if language != template.language
    }
    schema = _schema(typed["variables_schema"])
    return NewVersion({"": own} | others, schema, bool(typed["inline_css"]), typed["note"] or None)


def _schema(text: str) -> dict[str, Any] | None:
    if not text.strip():
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidField("variables_schema", "must be a JSON object")
    return found


async def _newest(
    context: PageContext,
) -> tuple[TemplateRow, VersionRow | None, Mapping[str, StoredText]]:
    """Return the template, its newest version, and the texts of that one by language."""
    async with connection(context) as conn:
        template = await find_own_template(context, conn)
        if template.newest is None:
            return template, None, {}
        version = await versions.find(conn, template, number=template.newest)
        texts = await versions.texts_of(conn, version)
    return template, version, {text.language: text for text in texts}


def _new(
    context: PageContext, typed: Mapping[str, str], faults: Mapping[str, str] | None = None
) -> Response:
    return context.page(
        "templates/new.html",
        status=_status(faults),
        typed=typed,
        faults=faults or {},
        path_of=path_of,
    )


def _version(
    context: PageContext,
    template: TemplateRow,
    typed: Mapping[str, str],
    texts: Mapping[str, StoredText],
    faults: Mapping[str, str] | None = None,
) -> Response:
    return context.page(
        "templates/version.html",
        status=_status(faults),
        found=template,
        typed=typed,
        others=sorted(set(texts) - {template.language}),
        faults=faults or {},
        path_of=path_of,
    )


def _status(faults: Mapping[str, str] | None) -> HTTPStatus:
    return HTTPStatus.UNPROCESSABLE_ENTITY if faults else HTTPStatus.OK


PAGES: tuple[ConsolePage, ...] = tuple(
    page
    for each in OWNERS
    for path, ask, act, keeps in (
        (f"{each.path}/new", ask_new, create, ("slug", *DETAILS)),
        (f"{each.template}/version", ask_version, add_version, ("subject", "note")),
    )
    for page in act_pages(
        path,
        each.right,
        ask=ask,
        act=act,
        keeps=keeps,
        step_up=False,
        max_fields_bytes=SOURCE_BYTES,
    )
)
