"""A project's own texts of the pages of its recipients, a language at a time."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.form import version_of
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.settings.pages import PATH as SETTINGS
from mailqueue.console.settings.pages import ChangedMeanwhile
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.projects import manage as projects_manage
from mailqueue.suppression.wording.texts import (
    MAX_CHARACTERS,
    REPLACEABLE,
    TEXTS,
    direction_of,
)
from mailqueue.web.rendering import sentence

PATH = f"{SETTINGS}/texts"
LANGUAGE = f"{PATH}/{{language}}"
MAX_FIELDS_BYTES = 256 * 1024
"""Bytes of a form of all texts, as a browser encodes them."""
DONE = {
    "changed": "The texts were changed. Recipients see them at once.",
    "same": "No text differs; nothing was changed.",
    "before": "This was done before, and was not done again.",
}
_MEANWHILE = (
    "Somebody changed these texts meanwhile. The fields show what you typed; nothing was changed."
)


@dataclass(frozen=True, slots=True)
class TextField:
    """A text as its form shows it."""

    name: str
    built_in: str


@dataclass(frozen=True, slots=True)
class LanguageRow:
    """A language of the pages, and the texts that a project has of its own in it."""

    tag: str
    name: str
    direction: str
    own: Mapping[str, str]


async def show_languages(context: PageContext) -> Response:
    """List the languages with the project's own texts."""
    async with context.connection() as conn:
        own = await _own(context, conn)
    return context.page(
        "settings/texts.html",
        languages=[
            LanguageRow(tag, texts["language"], direction_of(tag), own.get(tag, {}))
            for tag, texts in TEXTS.items()
        ],
        order=REPLACEABLE,
        may_change=context.may(Right.ADMINISTER),
        done=DONE.get(context.query("done"), ""),
    )


async def show_texts(context: PageContext) -> Response:
    """Show the form of the texts in a language."""
    _built_in(context)
    async with context.connection() as conn:
        own = await _own(context, conn)
    first = own.get(_tag(context), {})
    return _form(context, first, version=version_of(first))


async def change_texts(context: PageContext) -> Response:
    """Change the texts in a language; empty ones are the built-in texts again."""
    _built_in(context)
    tag, form = _tag(context), context.form
    typed = {name: _one_line(form.get(name, "")) for name in REPLACEABLE}
    wanted = {name: text for name, text in typed.items() if text}
    version = form.get("version", "")
    try:
        async with context.acting_once(on_installation=True) as conn:
            now = (await _own(context, conn)).get(tag, {})
            if version != version_of(now):
                raise ChangedMeanwhile
            if wanted != now:
                await projects_manage.change(
                    conn,
                    context.seen.name,
                    changes={"page_texts": {tag: wanted}},
                    by=context.user.by,
                )
    except DoneBefore:
        return _done(context, "before")
    except ChangedMeanwhile:
        return _form(context, typed, version=version, status=HTTPStatus.CONFLICT, note=_MEANWHILE)
    except InvalidField as exc:
        field = exc.field.rpartition(".")[2]
        known = field in REPLACEABLE
        return _form(
            context,
            typed,
            {field: sentence(exc.why)} if known else {},
            version=version,
            status=HTTPStatus.UNPROCESSABLE_ENTITY,
            note="Nothing was changed." if known else sentence(exc.why),
        )
    return _done(context, "changed" if wanted != now else "same")


async def _own(context: PageContext, conn: Conn) -> Mapping[str, Mapping[str, str]]:
    return (await projects_manage.find_by_id(conn, context.seen.id)).page_texts or {}


def _built_in(context: PageContext) -> Mapping[str, Any]:
    """Return the built-in texts in the language of the path.

    Raises:
        NotFound: the pages are not in this language.
    """
    tag = _tag(context)
    if tag not in TEXTS:
        raise NotFound("language", tag[:20])
    return TEXTS[tag]


def _tag(context: PageContext) -> str:
    tag: str = context.request.path_params["language"]
    return tag


def _form(
    context: PageContext,
    typed: Mapping[str, str],
    faults: Mapping[str, str] | None = None,
    *,
    version: str,
    status: HTTPStatus = HTTPStatus.OK,
    note: str = "",
) -> Response:
    built_in, tag = _built_in(context), _tag(context)
    return context.page(
        "settings/language.html",
        status=status,
        tag=tag,
        language=built_in["language"],
        direction=direction_of(tag),
        fields=[TextField(name, built_in[name]) for name in REPLACEABLE],
        typed=typed,
        faults=faults or {},
        note=note,
        version=version,
        longest=MAX_CHARACTERS,
    )


def _one_line(text: str) -> str:
    """Return a text as it is stored: a field of several lines makes one sentence. Pure."""
    return re.sub(r"[\r\n]+", " ", text).strip()


def _done(context: PageContext, done: str) -> Response:
    return context.redirect(project_path(context.seen.name, "settings", "texts", done=done))


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_languages),
    ConsolePage("GET", LANGUAGE, Right.ADMINISTER, show_texts),
    ConsolePage(
        "POST",
        LANGUAGE,
        Right.ADMINISTER,
        change_texts,
        keeps=REPLACEABLE,
        max_fields_bytes=MAX_FIELDS_BYTES,
    ),
)
