"""Postmark's API: try a template that is not stored, and show what its texts need."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from pydantic import ConfigDict, ValidationError
from pydantic.alias_generators import to_pascal
from starlette.responses import Response

from mailqueue.api.compat.handlebars.translation import jinja_of
from mailqueue.api.compat.postmark.faults import invalid_document
from mailqueue.api.compat.postmark.layouts import WithoutLayout
from mailqueue.api.compat.postmark.suggested import merged, suggested_model
from mailqueue.api.compat.reading import document_of
from mailqueue.api.emails.schema import StorableObject, StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.validation import validated
from mailqueue.core.errors import InvalidField
from mailqueue.projects.model import Scope
from mailqueue.templates import previews
from mailqueue.templates.model import NewText

MAX_BODY_BYTES = 2 * 1024 * 1024
_LINE = re.compile(r"line (\d{1,9}): (.*)", re.DOTALL)
_PARTS = {"Subject": "subject", "HtmlBody": "html_body", "TextBody": "text_body"}


class TriedTemplate(WithoutLayout):
    """The body of POST /templates/validate."""

    model_config = ConfigDict(alias_generator=to_pascal)

    subject: StorableText | None = None
    html_body: StorableText | None = None
    text_body: StorableText | None = None
    test_render_model: StorableObject | None = None
    inline_css_for_html_test_render: bool | None = None


async def validate(call: RequestContext) -> Response:
    """Render the texts of a template with a model, or say what is wrong with each."""
    document = await document_of(call, max_bytes=MAX_BODY_BYTES)
    try:
        body = validated(TriedTemplate, document, call.values)
    except ValidationError as exc:
        raise invalid_document(exc) from None
    given = {part: getattr(body, name) for part, name in _PARTS.items()}
    if all(text is None for text in given.values()):
        raise InvalidField("HtmlBody", "give Subject, HtmlBody or TextBody")
    texts = [text for text in given.values() if text is not None]
    suggested = await call.in_turn(lambda: suggested_model(texts))
    model = merged(suggested, body.test_render_model or {})
    is_inlined = body.inline_css_for_html_test_render is not False
    wrong: dict[str, InvalidField] = {}
    right = await _rendered(call, await _translated(call, given, wrong), model, is_inlined, wrong)
    shown = {
        part: None if text is None else _shown(right.get(part), wrong.get(part))
        for part, text in given.items()
    }
    is_valid = all(one is None or one["ContentIsValid"] for one in shown.values())
    return json_answer({"AllContentIsValid": is_valid, **shown, "SuggestedTemplateModel": model})


async def _translated(
    call: RequestContext, given: Mapping[str, str | None], wrong: dict[str, InvalidField]
) -> dict[str, str]:
    """Return the texts that can be translated, in Jinja; add the faults of others to `wrong`."""
    found: dict[str, str] = {}
    for part, text in given.items():
        try:
            if text is not None:
                found[part] = await call.in_turn(
                    partial(jinja_of, text, field=part, has_sections=True)
                )
        except InvalidField as exc:
            wrong[part] = exc
    return found


async def _rendered(
    call: RequestContext,
    texts: dict[str, str],
    model: Mapping[str, Any],
    is_inlined: bool,
    wrong: dict[str, InvalidField],
) -> dict[str, str | None]:
    """Return texts as one mail has them; add the faults of others to `wrong`.

    They are compiled together, as those of a stored template are, within the limits of one.
    """
    while texts:
        words = NewText(
            texts.get("Subject", "Subject"), texts.get("HtmlBody"), texts.get("TextBody", "Text")
        )
        try:
            found = await previews.try_texts(
                call.connection,
                call.services.compile_process,
                call.caller.project_id,
                words,
                variables=model,
                is_inlined=is_inlined,
            )
        except InvalidField as exc:
            named = [part for part in texts if _PARTS[part] == exc.field]
            for part in named or texts:
                wrong[part] = exc
            texts = {part: text for part, text in texts.items() if named and part not in named}
        else:
            return {part: found[_PARTS[part]] for part in texts}
    return {}


def _shown(text: str | None, fault: InvalidField | None) -> dict[str, Any]:
    """Return the result of one text. Pure."""
    errors = [] if fault is None else [_error(fault)]
    return {"ContentIsValid": not errors, "ValidationErrors": errors, "RenderedContent": text}


def _error(exc: InvalidField) -> dict[str, Any]:
    found = _LINE.fullmatch(exc.why)
    if found is None:
        return {"Message": exc.why, "Line": None, "CharacterPosition": None}
    return {"Message": found[2], "Line": int(found[1]), "CharacterPosition": None}


VALIDATING_ENDPOINTS = (
    Endpoint(
        "POST",
        "/templates/validate",
        Scope.TEMPLATE_READ,
        "Try a template that is not stored.",
        validate,
        test_keys=ForTestKeys.READ,
    ),
)
