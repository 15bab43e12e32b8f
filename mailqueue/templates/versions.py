"""Create, publish and archive the versions of a template."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any
from uuid import UUID

from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn, Lend
from mailqueue.rendering.faults import TemplateFault
from mailqueue.rendering.process.host import CompileProcess
from mailqueue.templates import store
from mailqueue.templates.model import NewText, NewVersion, StoredText, TemplateRow, VersionRow

MAX_LANGUAGES = 50
MAX_LISTED = 1000

CallCompileProcess = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Runs a job of the compile process in the turn of a project."""

DraftedVersion = Mapping[str, Any]
"""A version whose texts compile, as it is stored."""
_FIELDS = {"html": "html_body", "text": "text_body"}


async def add(
    lend: Lend, compile_process: CompileProcess, template: TemplateRow, *, new: NewVersion, by: str
) -> VersionRow:
    """Create a draft, the next version of a template, if all its texts compile.

    Raises:
        InvalidField: naming the body, the line, and the fault.
        NotFound: the template was deleted meanwhile.
    """
    drafted = await draft(lend, compile_process, template, new=new)
    async with lend() as conn:
        return await add_drafted(conn, template, drafted, by=by)


async def draft(
    lend: Lend, compile_process: CompileProcess, template: TemplateRow, *, new: NewVersion
) -> DraftedVersion:
    """Return a version that compiles, to be stored.

    Raises:
        InvalidField: naming the body, the line, and the fault.
    """
    if not 1 <= len(new.words) <= MAX_LANGUAGES:
        raise InvalidField("language", f"a version has 1 to {MAX_LANGUAGES} languages")
    async with lend() as conn:
        parts = {
            part.name: part.source for part in await store.list_parts(conn, template.project_id)
        }
    call = partial(compile_process.call, project_id=template.project_id)
    texts = [
        await _drafted(call, language or template.language, words, parts, new.variables_schema)
        for language, words in new.words.items()
    ]
    return {
        "variables_schema": new.variables_schema,
        "is_css_inlined": new.is_css_inlined,
        "note": new.note,
        "texts": texts,
    }


async def parts_for(
    lend: Lend, compile_process: CompileProcess, project_id: UUID, words: NewText
) -> Mapping[str, str]:
    """Return the parts that texts use which are not stored, and which compile.

    Raises:
        InvalidField: naming the body, the line, and the fault.
    """
    async with lend() as conn:
        parts = {part.name: part.source for part in await store.list_parts(conn, project_id)}
    call = partial(compile_process.call, project_id=project_id)
    found: Mapping[str, str] = (await _drafted(call, "", words, parts, None))["parts"]
    return found


async def add_drafted(
    conn: Conn, template: TemplateRow, drafted: DraftedVersion, *, by: str
) -> VersionRow:
    """Store a version that compiles as the next one of a template.

    Raises:
        NotFound: the template was deleted meanwhile.
    """
    made = await store.add_version(conn, template.id, version=drafted, by=by)
    if made is None:
        raise NotFound("template", template.slug)
    return await find(conn, template, version_id=made)


async def _drafted(
    call: CallCompileProcess,
    language: str,
    words: NewText,
    parts: Mapping[str, str],
    schema: Mapping[str, Any] | None,
) -> Mapping[str, Any]:
    for field, text in (
        ("subject", words.subject),
        ("html_body", words.html),
        ("text_body", words.text),
    ):
        if text is not None and ("\0" in text or not _is_unicode(text)):
            raise InvalidField(field, "it is not valid Unicode, or has a NUL character")
    asked = {
        "subject": words.subject,
        "html": words.html,
        "text": words.text,
        "parts": parts,
        "schema": schema,
    }
    try:
        found = await call("draft", asked)
    except TemplateFault as exc:
        raise invalid(exc) from None
    return {
        "language": language.lower().replace("_", "-"),
        "subject": words.subject,
        "html_body": words.html,
        "text_body": words.text,
        "parts": found["parts"],
        "needs": found["needs"],
    }


def invalid(fault: TemplateFault) -> InvalidField:
    """Return the InvalidField for a fault in a template."""
    where = "" if fault.line is None else f"line {fault.line}: "
    field = _FIELDS.get(fault.part, fault.part or "template")
    return InvalidField(field, where + fault.why)


async def find(
    conn: Conn, template: TemplateRow, *, number: int | None = None, version_id: UUID | None = None
) -> VersionRow:
    """Return a version by number or id; the published one where neither is given.

    Raises:
        NotFound: there is no such version.
    """
    found = await store.find_version(conn, template.id, number=number, version_id=version_id)
    if found is None:
        named = number or version_id or "published"
        raise NotFound("version", f"{named} of template {template.slug}")
    return found


async def number_noted(
    conn: Conn, template: TemplateRow, note: str, *, begins: str, before: int | None = None
) -> int | None:
    """Return the number of the newest version whose note is `note`, or begins with `begins`; of
    those before the number `before`, if one is given.
    """
    return await store.find_noted(conn, template.id, note=note, begins=begins, before=before)


async def list_all(
    conn: Conn, template: TemplateRow, *, before: int | None = None, limit: int = MAX_LISTED
) -> list[VersionRow]:
    """Return the versions of a template, newest first."""
    return await store.list_versions(conn, template.id, before=before, limit=limit)


async def texts_of(conn: Conn, version: VersionRow) -> list[StoredText]:
    """Return the texts of a version, one for each language."""
    return await store.list_texts(conn, version.id)


async def publish(
    lend: Lend,
    compile_process: CompileProcess,
    template: TemplateRow,
    version: VersionRow,
    *,
    by: str,
) -> VersionRow:
    """Publish a version: mail accepted from now on uses it. The one before is archived.

    Raises:
        InvalidField: its CSS was to be inlined, and cannot be.
        NotFound: the template was deleted meanwhile.
    """
    sent = await inlined(lend, compile_process, template, version)
    async with lend() as conn:
        return await publish_inlined(conn, template, version, sent, by=by)


async def inlined(
    lend: Lend, compile_process: CompileProcess, template: TemplateRow, version: VersionRow
) -> Mapping[str, str]:
    """Return the HTML of a version with its CSS inlined, by language, where that is to be done.

    Raises:
        InvalidField: its CSS cannot be inlined.
    """
    sent: dict[str, str] = {}
    if version.is_css_inlined:
        async with lend() as conn:
            texts = await texts_of(conn, version)
        call = partial(compile_process.call, project_id=template.project_id)
        for text in texts:
            if text.html_body is not None and text.sent_html is None:
                sent[text.language] = await _inlined(call, text.html_body)
    return sent


async def inlined_draft(
    compile_process: CompileProcess, template: TemplateRow, drafted: DraftedVersion
) -> Mapping[str, str]:
    """Return what `inlined` does, of a version that is not stored yet.

    Raises:
        InvalidField: its CSS cannot be inlined.
    """
    if not drafted["is_css_inlined"]:
        return {}
    call = partial(compile_process.call, project_id=template.project_id)
    html = {text["language"]: text["html_body"] for text in drafted["texts"]}
    return {each: await _inlined(call, text) for each, text in html.items() if text is not None}


async def publish_inlined(
    conn: Conn, template: TemplateRow, version: VersionRow, sent: Mapping[str, str], *, by: str
) -> VersionRow:
    """Publish a version with what `inlined` returned.

    Raises:
        NotFound: the template was deleted meanwhile.
    """
    if not await store.publish(conn, version.id, sent=sent, by=by):
        raise NotFound("template", template.slug)
    return await find(conn, template, version_id=version.id)


async def _inlined(call: CallCompileProcess, html: str) -> str:
    try:
        return str((await call("inline", {"html": html}))["html"])
    except TemplateFault as exc:
        raise invalid(exc) from None


async def archive(conn: Conn, template: TemplateRow, version: VersionRow, *, by: str) -> VersionRow:
    """Archive a version; if it was the published one, mail from the template is refused.

    Raises:
        NotFound: the template was deleted meanwhile.
    """
    if not await store.archive(conn, version.id, by=by):
        raise NotFound("template", template.slug)
    return await find(conn, template, version_id=version.id)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
