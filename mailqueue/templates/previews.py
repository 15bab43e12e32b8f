"""Preview a template version, and compare two versions."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from mailqueue.contract.templates import Preview
from mailqueue.core.errors import InvalidField, NotFound, Unavailable
from mailqueue.db.fetch import Conn, Lend
from mailqueue.rendering.faults import Exceeded, TemplateFault
from mailqueue.rendering.process.host import CompileProcess
from mailqueue.templates import store
from mailqueue.templates.accepting import language_of
from mailqueue.templates.model import NewText, StoredText, TemplateRow, VersionRow
from mailqueue.templates.versions import invalid, texts_of


async def words_of(
    conn: Conn, template: TemplateRow, version: VersionRow, language: str | None
) -> StoredText:
    """Return the texts of a version in a language, or in the one it falls back to."""
    texts = {text.language: text for text in await texts_of(conn, version)}
    return texts[language_of(language, list(texts), template.language)]


async def preview(
    compile_process: CompileProcess,
    template: TemplateRow,
    version: VersionRow,
    words: StoredText,
    *,
    variables: Mapping[str, Any],
) -> Preview:
    """Render a version as one mail, in a process of its own.

    Raises:
        InvalidField: it cannot be rendered with these variables.
    """
    asked = {
        "subject": words.subject,
        "html": words.html_body if words.sent_html is None else words.sent_html,
        "text": words.text_body,
        "parts": words.parts,
        "schema": version.variables_schema,
        "variables": variables,
        "category": template.category,
    }
    try:
        found = await compile_process.call("preview", asked, project_id=template.project_id)
    except TemplateFault as exc:
        raise invalid(exc) from None
    return Preview(
        version=version.version,
        language=words.language,
        subject=found["subject"],
        html_body=found["html"],
        text_body=found["text"],
        size_bytes=found["size_bytes"],
        warnings=found["warnings"],
    )


async def try_texts(
    lend: Lend,
    compile_process: CompileProcess,
    project_id: UUID,
    words: NewText,
    *,
    variables: Mapping[str, Any],
    is_inlined: bool,
) -> Mapping[str, str | None]:
    """Return texts that are not stored as one mail has them, rendered in a process of its own.

    Raises:
        InvalidField: one does not compile, or cannot be rendered with these variables.
    """
    async with lend() as conn:
        parts = {part.name: part.source for part in await store.list_parts(conn, project_id)}
    call = partial(compile_process.call, project_id=project_id)
    asked = {"subject": words.subject, "html": words.html, "text": words.text, "schema": None}
    try:
        used = (await call("draft", {**asked, "parts": parts}))["parts"]
        if is_inlined and words.html is not None:
            asked["html"] = (await call("inline", {"html": words.html}))["html"]
        tried = {**asked, "parts": used, "variables": variables, "category": "transactional"}
        found = await call("preview", tried)
    except TemplateFault as exc:
        raise invalid(exc) from None
    return {"subject": found["subject"], "html_body": found["html"], "text_body": found["text"]}


async def usual(conn: Conn, template: TemplateRow) -> VersionRow:
    """Return the published version, or the newest where none is published.

    Raises:
        NotFound: there is no version at all.
    """
    number = template.published or template.newest
    if number is None:
        raise NotFound("version of template", template.slug)
    found = await store.find_version(conn, template.id, number=number, version_id=None)
    assert found is not None
    return found


async def diff(
    lend: Lend,
    compile_process: CompileProcess,
    template: TemplateRow,
    old: VersionRow,
    new: VersionRow,
    *,
    language: str | None = None,
) -> str:
    """Return a unified diff of subject, HTML and text of two versions, made in another process.

    Raises:
        InvalidField: one of them has no texts in that language.
        Unavailable: the other process took more time or memory than it may.
    """
    tag = (language or template.language).lower()
    both = []
    async with lend() as conn:
        for version in (old, new):
            texts = {text.language: text for text in await texts_of(conn, version)}
            if tag not in texts:
                why = f"version {version.version} has no text in {tag[:35]}"
                raise InvalidField("language", why)
            both.append(texts[tag])
    before, after = both
    asked = {
        "names": [f"{template.slug}@{version.version}" for version in (old, new)],
        "texts": [
            ["subject", before.subject, after.subject],
            ["html", before.html_body or "", after.html_body or ""],
            ["text", before.text_body or "", after.text_body or ""],
        ],
    }
    try:
        found = await compile_process.call("diff", asked, project_id=template.project_id)
    except Exceeded as exc:
        raise Unavailable(f"the versions cannot be compared now: {exc}") from None
    return str(found["diff"])
