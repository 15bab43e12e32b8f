"""Postmark's API: try a template that is not stored, and show what its texts need."""

import re
from collections.abc import Mapping
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
from mailqueue.templates import previews
from mailqueue.templates.model import NewText
from mailqueue.tenants.model import Scope

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
    shown = {
        part: await _tried(call, part, text, model, is_inlined=is_inlined)
        for part, text in given.items()
    }
    is_valid = all(one is None or one["ContentIsValid"] for one in shown.values())
    return json_answer({"AllContentIsValid": is_valid, **shown, "SuggestedTemplateModel": model})


async def _tried(
    call: RequestContext,
    part: str,
    text: str | None,
    model: Mapping[str, Any],
    *,
    is_inlined: bool,
) -> dict[str, Any] | None:
    """Return the result of one text; None where none is given."""
    if text is None:
        return None
    name = _PARTS[part]
    try:
        jinja = await call.in_turn(lambda: jinja_of(text, field=part, has_sections=True))
        given = {"subject": "Subject", "html_body": None, "text_body": "Text", name: jinja}
        words = NewText(given["subject"] or "", given["html_body"], given["text_body"])
        found = await previews.try_texts(
            call.connection,
            call.services.compile_process,
            call.caller.project_id,
            words,
            variables=model,
            is_inlined=is_inlined,
        )
    except InvalidField as exc:
        return {
            "ContentIsValid": False,
            "ValidationErrors": [_error(exc)],
            "RenderedContent": None,
        }
    return {"ContentIsValid": True, "ValidationErrors": [], "RenderedContent": found[name]}


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
