"""The texts of a broadcast in Jinja. Pure.

{{{contact.first_name|there}}} becomes the field or the attribute of the contact, with the text
after the bar where it has none, and {{{RESEND_UNSUBSCRIBE_URL}}} the link of the mail. All else is
left as it is, as in templates.
"""

import html
import re
from collections.abc import Mapping
from typing import Any

from mailqueue.api.compat.handlebars.paths import NameScope, UntranslatedTemplate, path_of
from mailqueue.api.compat.handlebars.translation import MAX_TAGS
from mailqueue.api.compat.resend.template_model import LINKS
from mailqueue.core.errors import InvalidField
from mailqueue.rendering.compiled import LONGEST_SOURCE
from mailqueue.templates.model import NewText

_OPENING = "{{{"
_TAG = re.compile(
    r"\{\{\{\s*([A-Za-z_][A-Za-z0-9_]{0,49}(?:\.[A-Za-z_][A-Za-z0-9_]{0,49})?)\s*"
    r"(?:\|([^{}\"\\%\n]{0,500}))?\}\}\}(?!\})"
)
_FIELDS = frozenset({"first_name", "last_name", "email", "language", "time_zone"})
_OLD_NAMES = {"FIRST_NAME": "first_name", "LAST_NAME": "last_name", "EMAIL": "email"}
_BODY = re.compile(r"<body\b[^<>]{0,2000}>", re.IGNORECASE)
_HIDDEN = "display:none;overflow:hidden;line-height:1px;opacity:0;max-height:0;max-width:0"


def texts_of(content: Mapping[str, Any], fallbacks: Mapping[str, Any]) -> NewText:
    """Return the texts of a broadcast in Jinja; `fallbacks` are those of attributes by name.

    Raises:
        InvalidField: three braces hold something else than a name of a contact, there is neither
            HTML nor text, or a preview text without HTML.
    """
    page, plain, preview = (content.get(name) for name in ("html", "text", "preview_text"))
    if not page and not plain:
        raise InvalidField("html", "a broadcast needs `html` or `text` to be sent")
    if preview and not page:
        raise InvalidField("preview_text", "stands in `html`, which the broadcast has none of")
    if page and preview:
        page = _with_preview(page, preview)
    return NewText(
        jinja_text(content["subject"], fallbacks, field="subject"),
        jinja_text(page, fallbacks, field="html") if page else None,
        jinja_text(plain, fallbacks, field="text") if plain else None,
    )


def jinja_text(text: str, fallbacks: Mapping[str, Any], *, field: str) -> str:
    """Return a text in Jinja.

    Raises:
        InvalidField: three braces hold something else than a name of a contact, or it is too long.
    """
    found: list[str] = []
    end, room = 0, LONGEST_SOURCE
    for count in range(MAX_TAGS + 1):
        start = text.find(_OPENING, end)
        if start < 0:
            break
        tag = _TAG.match(text, start)
        line = text.count("\n", 0, start) + 1
        if tag is None:
            why = "three braces hold the name of a field of contacts, as in"
            raise InvalidField(field, f"line {line}: {why} {{{{{{contact.first_name|there}}}}}}")
        if count == MAX_TAGS:
            raise InvalidField(field, f"line {line}: a text has at most {MAX_TAGS} tags")
        try:
            found += [text[end:start], _printed(tag[1], tag[2], fallbacks)]
        except UntranslatedTemplate as exc:
            raise InvalidField(field, f"line {line}: {exc}") from None
        end = tag.end()
        room -= len(found[-2]) + len(found[-1])
        if room < 0:
            raise InvalidField(field, f"it has over {LONGEST_SOURCE} characters in Jinja")
    return "".join([*found, text[end:]])


def _printed(name: str, fallback: str | None, fallbacks: Mapping[str, Any]) -> str:
    """Return a tag in Jinja.

    Raises:
        UntranslatedTemplate: Jinja has no such name.
    """
    if name in LINKS:
        return "{{ unsubscribe_url }}"
    scope, _, own = name.partition(".")
    if not own:
        own = _OLD_NAMES.get(name, name)
    elif scope != "contact":
        raise UntranslatedTemplate(f"{name!r} is unknown: only contacts have fields")
    path = f"contact.{own}" if own in _FIELDS else f"contact.attributes.{own}"
    otherwise = fallbacks.get(own, "") if fallback is None else fallback
    literal = f'"{otherwise}"' if isinstance(otherwise, str) else repr(otherwise)
    return f"{{{{ {path_of(path, [NameScope(None)])} | default({literal}, true) }}}}"


def _with_preview(page: str, preview: str) -> str:
    """Return HTML that begins with a text which inboxes show and the mail does not."""
    hidden = f'<div style="{_HIDDEN}">{html.escape(preview, quote=False)}</div>'
    body = _BODY.search(page)
    place = 0 if body is None else body.end()
    return page[:place] + hidden + page[place:]
