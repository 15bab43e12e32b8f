"""Compile the texts of a new version with the parts they use."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mailqueue.rendering.compiled import Compiler, TemplateSource
from mailqueue.rendering.faults import TemplateFault

MAX_SUBJECT = 998


@dataclass(frozen=True, slots=True)
class TemplateDraft:
    """The parts that compiled texts use, and the variables they need."""

    parts: Mapping[str, str]
    needs: tuple[str, ...]


def draft(
    subject: str,
    *,
    html: str | None,
    text: str | None,
    parts: Mapping[str, str],
    schema: Mapping[str, Any] | None,
) -> TemplateDraft:
    """Compile texts with those of `parts` that they include.

    Raises:
        TemplateFault: naming the part, the line, and the fault.
    """
    if not subject.strip() or len(subject) > MAX_SUBJECT or not subject.isprintable():
        raise TemplateFault(f"one line of 1 to {MAX_SUBJECT} characters", part="subject")
    if html is None and text is None:
        raise TemplateFault("html or text is needed")
    compiler = Compiler()
    used = compiler.parts_of(html or "", parts, part="html")
    used |= compiler.parts_of(text or "", parts, part="text")
    used |= compiler.parts_of(subject, parts, part="subject")
    compiled = compiler.compiled(TemplateSource(subject, html, text, used, schema))
    return TemplateDraft(used, compiled.needs)
