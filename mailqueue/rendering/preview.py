"""Preview a mail, with warnings. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from turbohtml import Document, Element, parse

from mailqueue.rendering.compiled import Compiler, Rendered, TemplateSource
from mailqueue.rendering.contexts.links import BLOCKED
from mailqueue.rendering.plain import text_of

CLIPPED_BYTES = 102 * 1024
"""Size above which large mailbox providers cut a mail off, in bytes."""
MAX_WARNINGS = 50
MARKETING = "marketing"
LONG_SUBJECT = 70

_UNSUBSCRIBE = re.compile(r"unsubscribe|opt.?out|preferences|abmelden|désinscri", re.IGNORECASE)
_SAFE = re.compile(r"\|\s*(?:safe|safeHTML|safe_html)\b")


@dataclass(frozen=True, slots=True)
class PreviewBodies:
    """The rendered bodies, their size in bytes, and warnings."""

    subject: str
    html: str | None
    text: str
    size_bytes: int
    warnings: tuple[str, ...]


def preview(
    source: TemplateSource, variables: Mapping[str, Any], *, category: str
) -> PreviewBodies:
    """Render a mail and check it.

    Raises:
        TemplateFault: it cannot be rendered with these variables.
    """
    said = Compiler().compiled(source).render(variables)
    text = said.text if said.text is not None else text_of(said.html or "")
    size = sum(len(part.encode()) for part in (said.html or "", text))
    found = list(_warnings(source, said, text, size=size, category=category))[:MAX_WARNINGS]
    return PreviewBodies(said.subject, said.html, text, size, tuple(dict.fromkeys(found)))


def _warnings(
    source: TemplateSource, rendered: Rendered, text: str, *, size: int, category: str
) -> Iterator[str]:
    if not rendered.subject:
        yield "the subject is empty"
    if len(rendered.subject) > LONG_SUBJECT:
        found = len(rendered.subject)
        yield f"the subject has {found} characters: many inboxes show {LONG_SUBJECT}"
    if size > CLIPPED_BYTES:
        yield f"it has {size} bytes: large providers cut an email off after {CLIPPED_BYTES}"
    if _SAFE.search(source.html or "") or any(map(_SAFE.search, source.parts.values())):
        yield "a variable is inserted as HTML, unescaped: use this for trusted values only"
    if category == MARKETING and not _UNSUBSCRIBE.search((rendered.html or "") + text):
        yield "marketing email needs an unsubscribe link, and there is none"
    if rendered.html is None:
        return
    if not text.strip():
        yield "the text body is empty"
    yield from _of_elements(parse(rendered.html))


def _of_elements(document: Document) -> Iterator[str]:
    for picture in document.select("img"):
        if picture.attrs.get("alt") is None:
            yield f"an image has no alt text: {_short(picture, 'src')}"
        if _short(picture, "src").startswith("http://"):
            yield f"an image is loaded without https: {_short(picture, 'src')}"
    for link in document.select("a[href]"):
        target = _short(link, "href")
        if target.lower().startswith("http://"):
            yield f"a link has no https: {target}"
        elif target.lower().lstrip().startswith(("javascript:", "data:", "vbscript:")):
            yield f"mail programs do not follow this link: {target}"
        elif target == BLOCKED:
            yield f"a value may not be this link, and {BLOCKED} stands for it"
        elif not target or target == "#":
            yield "a link has no target"
    for name in ("script", "form", "iframe", "object", "embed"):
        if document.select(name):
            yield f"mail programs remove <{name}>"


def _short(element: Element, name: str) -> str:
    value = element.attrs.get(name)
    text = value if isinstance(value, str) else ""
    return "".join(char if char.isprintable() else "?" for char in text[:120])
