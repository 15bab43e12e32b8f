"""Resend's templates: bodies, and their variables as a schema and in Jinja. Pure.

A variable {{{NAME}}} becomes {{ NAME }}, whose value is escaped in HTML. All else is left as it is,
so that what is shown can be sent back, and loops and conditions can be written in Jinja.
"""

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import Field

from mailqueue.api.compat.handlebars.paths import NameScope, UntranslatedTemplate, path_of
from mailqueue.api.compat.handlebars.translation import MAX_TAGS
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.core.errors import InvalidField
from mailqueue.rendering.compiled import LONGEST_SOURCE
from mailqueue.templates.model import NewText, StoredText

MAX_VARIABLES = 50
MAX_FALLBACK_CHARACTERS = 2_000
RESERVED = frozenset({"FIRST_NAME", "LAST_NAME", "EMAIL", "contact", "this"})
"""Names that Resend itself gives a value, in mail of broadcasts."""
LINKS = frozenset({"UNSUBSCRIBE_URL", "RESEND_UNSUBSCRIBE_URL"})
_OPENING = "{{{"
_NOT_QUOTED = frozenset('"\\{}%')
"""Characters that no text in Jinja's quotes has."""
_TAG = re.compile(r"(?<!\{)\{\{\{\s*([A-Za-z_][A-Za-z0-9_]{0,49})\s*\}\}\}(?!\})")
_TYPES = ("string", "number")
_Name = Annotated[StorableText, Field(min_length=1, max_length=200)]
_Subject = Annotated[StorableText, Field(min_length=1, max_length=998)]
_Html = Annotated[StorableText, Field(min_length=1)]


class ResendVariable(StrictRequestModel):
    """A variable of a template."""

    key: Annotated[StorableText, Field(pattern="^[A-Za-z_][A-Za-z0-9_]{0,49}$")]
    type: Literal["string", "number"]
    fallback_value: StorableText | int | float | None = None


class ResendTemplateChange(StrictRequestModel):
    """The body of PATCH /templates/{template_id}; what is left out stays."""

    name: _Name | None = None
    alias: StorableText | None = None
    sender: StorableText | list[StorableText] | None = Field(default=None, alias="from")
    reply_to: StorableText | list[StorableText] | None = None
    subject: _Subject | None = None
    html: _Html | None = None
    text: StorableText | None = None
    variables: Annotated[list[ResendVariable], Field(max_length=MAX_VARIABLES)] | None = None


class ResendNewTemplate(ResendTemplateChange):
    """The body of POST /templates."""

    name: _Name
    subject: _Subject
    html: _Html


def schema_of(variables: Sequence[ResendVariable]) -> dict[str, Any]:
    """Return the schema of the variables; those without a fallback are required. Pure.

    Raises:
        InvalidField: a name is reserved or there twice, or a fallback is not of its type.
    """
    properties: dict[str, Any] = {}
    for number, one in enumerate(variables):
        field = f"variables.{number}"
        if one.key in RESERVED or one.key in LINKS:
            raise InvalidField(f"{field}.key", f"{one.key!r} is reserved")
        if one.key in properties:
            raise InvalidField(f"{field}.key", f"{one.key!r} is there twice")
        _check_name(f"{field}.key", one.key)
        properties[one.key] = {"type": one.type}
        if one.fallback_value is not None:
            check_fallback(f"{field}.fallback_value", one)
            properties[one.key]["default"] = one.fallback_value
    required = [name for name, each in properties.items() if "default" not in each]
    return {"type": "object", "properties": properties, "required": required}


def variables_shown(schema: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the variables of a schema that are text or numbers. Pure."""
    return [
        {"key": name, "type": each["type"], "fallback_value": each.get("default")}
        for name, each in _properties(schema).items()
        if isinstance(each, Mapping) and each.get("type") in _TYPES
    ]


def text_of(
    body: ResendTemplateChange, schema: Mapping[str, Any] | None, before: StoredText | None = None
) -> NewText:
    """Return the texts of a body in Jinja; those it leaves out are as before. Pure.

    Raises:
        InvalidField: a variable cannot be translated, or the text is empty.
    """
    if body.text == "":
        raise InvalidField("text", "cannot be empty: leave it out to have it made from the HTML")
    subject = "" if before is None else before.subject
    html = None if before is None else before.html_body
    plain = None if before is None else before.text_body
    if body.subject is not None:
        subject = jinja_of(body.subject, schema, field="subject")
    if body.html is not None:
        html = jinja_of(body.html, schema, field="html")
    if body.text is not None:
        plain = jinja_of(body.text, schema, field="text")
    return NewText(subject, html, plain)


def check_whole(body: ResendTemplateChange, before: StoredText) -> None:
    """Check that texts with variables are given where those change: fallbacks are in the texts.

    Raises:
        InvalidField: one is left out.
    """
    stored = {"subject": before.subject, "html": before.html_body, "text": before.text_body}
    for name, text in stored.items():
        if "{{" in (text or "") and getattr(body, name) is None:
            why = f"give `{name}` as well, which has the fallbacks of its variables"
            raise InvalidField("variables", why)


def jinja_of(text: str, schema: Mapping[str, Any] | None, *, field: str) -> str:
    """Return a text with its variables in Jinja; one without fallback is needed by mail. Pure.

    Raises:
        InvalidField: three braces hold something else than a name, the text has too many of them or
            is too long in Jinja, or the schema has a fallback that Jinja cannot quote.
    """
    properties, found, end, room = _properties(schema), [], 0, LONGEST_SOURCE
    for count in range(MAX_TAGS + 1):
        start = text.find(_OPENING, end)
        if start < 0:
            break
        try:
            if count == MAX_TAGS:
                raise UntranslatedTemplate(f"a template has at most {MAX_TAGS} tags")
            tag = _tag_at(text, start)
        except UntranslatedTemplate as exc:
            line = text.count("\n", 0, start) + 1
            raise InvalidField(field, f"line {line}: {exc}") from None
        _check_name(field, tag[1])
        found += [text[end:start], _printed(tag[1], properties.get(tag[1]))]
        end = tag.end()
        room -= len(found[-2]) + len(found[-1])
        if room < 0:
            raise InvalidField(field, f"it has over {LONGEST_SOURCE} characters in Jinja")
    return "".join([*found, text[end:]])


def _tag_at(text: str, start: int) -> re.Match[str]:
    """Return the variable whose three braces are at a place.

    Raises:
        UntranslatedTemplate: they hold something else than a name, or that of a link.
    """
    tag = _TAG.match(text, start)
    if tag is None:
        why = "three braces hold the name of a variable alone, as in {{{NAME}}}"
        raise UntranslatedTemplate(f"{why}; write {{{{ name | filter }}}}")
    if tag[1] in LINKS:
        raise UntranslatedTemplate(f"{tag[0]} is not translated: write {{{{ unsubscribe_url }}}}")
    return tag


def _printed(name: str, described: Any) -> str:
    """Return a variable in Jinja, with the fallback of its schema, which may be of another API.

    Raises:
        InvalidField: the fallback is neither a number nor a text that can be quoted.
    """
    fallback = described.get("default") if isinstance(described, Mapping) else None
    if fallback is None:
        return f"{{{{ {name} }}}}"
    if not isinstance(fallback, str | int | float) or (
        isinstance(fallback, str) and _NOT_QUOTED & set(fallback)
    ):
        why = f'the fallback of {name!r} must be a number, or a text with none of " \\ {{ }} %'
        raise InvalidField("variables", why)
    literal = f'"{fallback}"' if isinstance(fallback, str) else repr(fallback)
    return f"{{{{ {name} | default({literal}) }}}}"


def _check_name(field: str, name: str) -> None:
    try:
        path_of(name, [NameScope(None)])
    except UntranslatedTemplate as exc:
        raise InvalidField(field, str(exc)) from None


def check_fallback(field: str, one: ResendVariable) -> None:
    """Check that a fallback is of its type, and can stand in Jinja.

    Raises:
        InvalidField: it does not.
    """
    value = one.fallback_value
    is_text = isinstance(value, str)
    if is_text is not (one.type == "string") or (isinstance(value, float) and not isfinite(value)):
        raise InvalidField(field, f"must be a {one.type}")
    if isinstance(value, str) and (
        len(value) > MAX_FALLBACK_CHARACTERS or _NOT_QUOTED & set(value)
    ):
        most = MAX_FALLBACK_CHARACTERS
        raise InvalidField(field, f'has at most {most} characters, and none of " \\ {{ }} %')


def _properties(schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    found = (schema or {}).get("properties")
    return found if isinstance(found, Mapping) else {}
