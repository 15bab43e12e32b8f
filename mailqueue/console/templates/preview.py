"""A version of a template rendered with sample values: HTML in a sandbox, text, and warnings."""

import json
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.templates.owner import (
    PLATFORM_TEMPLATE,
    PROJECT_TEMPLATE,
    connection,
    find_template,
    find_version,
    path_of,
)
from mailqueue.contract.templates import Preview
from mailqueue.core.errors import InvalidField
from mailqueue.templates import previews
from mailqueue.templates.model import TemplateRow
from mailqueue.web.rendering import sentence
from mailqueue.web.security_headers import framed

FIELDS = ("version", "language", "variables")
LOOKS = (
    ("desk-light", "Desk, light"),
    ("desk-dark", "Desk, dark"),
    ("phone-light", "Phone, light"),
    ("phone-dark", "Phone, dark"),
)
"""Widths and colours of a preview; the first is shown unless another one is chosen."""
_COLOURS = re.compile(r"\(\s*prefers-color-scheme\s*:\s*(dark|light)\s*\)", re.IGNORECASE)


async def show_preview(context: PageContext) -> Response:
    """Show a version with sample values, or why it cannot be rendered with them."""
    typed = {name: context.query(name) for name in FIELDS}
    template = await _template(context)
    shown, faults = None, {}
    try:
        if template.newest is not None:
            shown = await rendered(context, template, typed)
    except InvalidField as exc:
        faults = {"variables": sentence(f"{exc.field}: {exc.why}")}
    return context.page(
        "templates/preview.html",
        found=template,
        typed=typed,
        faults=faults,
        shown=shown,
        look=_look(context),
        looks=LOOKS,
        path_of=path_of,
    )


async def show_html(context: PageContext) -> Response:
    """Return the HTML of a preview for its frame, where it can run and fetch nothing."""
    template = await _template(context)
    try:
        typed = {name: context.query(name) for name in FIELDS}
        html = (await rendered(context, template, typed)).html_body or ""
    except InvalidField as exc:
        html = escape(sentence(f"{exc.field}: {exc.why}"))
    return framed(_coloured(html, _look(context).rpartition("-")[2]))


def _look(context: PageContext) -> str:
    look = context.query("look")
    return look if look in dict(LOOKS) else LOOKS[0][0]


def _coloured(html: str, colours: str) -> str:
    """Return HTML whose styles for dark or light screens apply, whatever the reader's screen is.

    Not every browser lets the page of a frame decide this.
    """
    return _COLOURS.sub(
        lambda found: "(min-width: 0)" if found[1].lower() == colours else "(max-width: 0)", html
    )


async def _template(context: PageContext) -> TemplateRow:
    async with connection(context) as conn:
        return await find_template(context, conn)


async def rendered(
    context: PageContext, template: TemplateRow, typed: Mapping[str, str]
) -> Preview:
    """Return a version, rendered with sample values: `version`, `language` and `variables`.

    Raises:
        NotFound: there is no such version.
        InvalidField: it cannot be rendered with these values.
    """
    variables = _variables(typed["variables"])
    async with connection(context) as conn:
        if typed["version"]:
            version = await find_version(conn, template, typed["version"])
        else:
            version = await previews.usual(conn, template)
        words = await previews.words_of(conn, template, version, typed["language"] or None)
    compiler = context.console.compile_process
    return await previews.preview(compiler, template, version, words, variables=variables)


def _variables(text: str) -> dict[str, Any]:
    """Return sample values from JSON.

    Raises:
        InvalidField: it is not a JSON object.
    """
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidField("variables", 'must be a JSON object such as {"name": "Ann"}')
    return found


PAGES = tuple(
    page
    for one, right in ((PROJECT_TEMPLATE, Right.READ), (PLATFORM_TEMPLATE, Right.ADMINISTER))
    for page in (
        ConsolePage("GET", f"{one}/preview", right, show_preview),
        ConsolePage("GET", f"{one}/preview/html", right, show_html),
    )
)
