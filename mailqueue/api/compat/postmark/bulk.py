"""Postmark's API: one content for many recipients.

Follows postmarkapp.com/developer/api/bulk-email. All messages are accepted, or none: they are a
batch. Texts with variables are rendered for each when it is accepted, and nothing of them is kept
but the messages.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from starlette.responses import Response

from mailqueue.api.compat.accepting import OneRefused, Wanted
from mailqueue.api.compat.batch import Budget, accept_together, with_kept_files
from mailqueue.api.compat.handlebars.kept import LANGUAGE
from mailqueue.api.compat.handlebars.translation import jinja_of
from mailqueue.api.compat.idempotency import respond_once
from mailqueue.api.compat.model import sending_endpoint
from mailqueue.api.compat.postmark.faults import PostmarkRefusal, field_description
from mailqueue.api.compat.postmark.model import BulkMessage
from mailqueue.api.compat.postmark.reading import (
    AnyMessage,
    bulk_of,
    check_headers,
    message_of,
    sent_at,
)
from mailqueue.api.compat.postmark.ruled.applying import rules_for
from mailqueue.api.compat.reading import document_of
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import InvalidField
from mailqueue.mail.accept.batches import find_batch
from mailqueue.projects.model import Scope
from mailqueue.rendering.compiled import Compiler
from mailqueue.rendering.faults import TemplateFault
from mailqueue.templates import versions
from mailqueue.templates.cache import CachedVersion
from mailqueue.templates.model import NewText, VersionSource

BULK_BYTES = 50 * 1024 * 1024
MAX_CHARACTERS = 64 * 1024 * 1024
"""Most characters of all messages of a request, with their variables inserted."""
_WAITING = frozenset({"pending", "assigned", "held"})
_PATH = "/email/bulk"


async def send(call: RequestContext) -> Response:
    """Accept the messages of a bulk request, all or none."""
    check_headers(call.request)
    document = await document_of(call, max_bytes=BULK_BYTES)
    given = await call.in_turn(lambda: _messages(document, call.values))
    complete = await rules_for(call, given)
    messages = await call.in_turn(lambda: [complete(one) for one in given])
    messages = await _with_variables(call, messages)
    try:
        wanted = await call.in_turn(lambda: _mails(messages))
        wanted = await with_kept_files(call, wanted)
    except OneRefused as exc:
        raise _refused(exc.index, exc.fault) from exc

    async def answer() -> Response:
        try:
            sent = await accept_together(call, wanted, is_kept=True)
        except OneRefused as exc:
            raise _refused(exc.index, exc.fault) from exc
        return json_answer(accepted_bulk(sent[0].id))

    if call.idempotency_key is None:
        return await answer()
    return await respond_once(call, call.idempotency_key, document, answering=answer)


async def show(call: RequestContext) -> Response:
    """Show how many messages of a bulk request are done with."""
    batch_id = call.id("batch_id")
    async with call.connection() as conn:
        found = await find_batch(conn, call.caller.project_id, batch_id)
    total = sum(found.counts.values())
    done = sum(count for status, count in found.counts.items() if status not in _WAITING)
    status = "Completed" if done == total else "Processing" if done else "Accepted"
    return json_answer(
        {
            "Id": found.id,
            "SubmittedAt": found.created_at,
            "TotalMessages": total,
            "PercentageCompleted": round(done / total, 4) if total else 1,
            "Status": status,
            "Subject": found.subject or "",
        }
    )


def accepted_bulk(batch_id: UUID) -> dict[str, Any]:
    """Return the answer to a bulk request."""
    return {"Id": batch_id, "Status": "Accepted", "SubmittedAt": sent_at()}


def _messages(document: Any, values: int) -> list[AnyMessage]:
    model, documents = bulk_of(document)
    found: list[AnyMessage] = []
    for index, one in enumerate(documents):
        try:
            found.append(message_of(model, one, values))
        except InvalidField as exc:
            raise _refused(index, exc) from exc
    return found


def _mails(messages: Sequence[AnyMessage]) -> list[Wanted]:
    found: list[Wanted] = []
    for index, one in enumerate(messages):
        try:
            found.append(one.to_mail())
        except InvalidField as exc:
            raise OneRefused(index, exc) from exc
    return found


async def _with_variables(call: RequestContext, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return messages whose texts are no stored template with their variables in place.

    Raises:
        InvalidField: a text cannot be translated or compiled.
        PostmarkRefusal: a message cannot be rendered, or all are too large.
    """
    first = messages[0]
    if not isinstance(first, BulkMessage):
        return list(messages)
    texts = {"Subject": first.subject, "HtmlBody": first.html_body, "TextBody": first.text_body}
    if not any("{{" in text for text in texts.values()):
        return list(messages)
    sheet = await _compiled(call, texts)
    budget = Budget(MAX_CHARACTERS)
    found: list[AnyMessage] = []
    for index, one in enumerate(messages):
        assert isinstance(one, BulkMessage), "all messages of a request are of one kind"
        await call.services.turns.share()
        try:
            said = await call.in_turn(partial(sheet.render, one.template_model))
            budget.take(len(said.html or "") + len(said.text or ""), "HtmlBody")
        except TemplateFault as exc:
            raise _refused(index, InvalidField("TemplateModel", str(exc))) from exc
        except InvalidField as exc:
            raise _refused(index, exc) from exc
        own = {"subject": said.subject, "html_body": said.html or ""}
        own["text_body"] = (said.text or "") if one.text_body else ""
        found.append(one.model_copy(update=own))
    return found


async def _compiled(call: RequestContext, texts: Mapping[str, str]) -> CachedVersion:
    """Return texts of Mustachio, compiled as those of a stored template are.

    Raises:
        InvalidField: one cannot be translated or compiled.
    """

    def translated(field: str) -> str | None:
        return jinja_of(texts[field], field=field, has_sections=True) or None

    words = await call.in_turn(
        lambda: NewText(translated("Subject") or "", translated("HtmlBody"), translated("TextBody"))
    )
    parts = await versions.parts_for(
        call.connection, call.services.compile_process, call.caller.project_id, words
    )
    nameless = VersionSource(
        UUID(int=0), LANGUAGE, words.subject, words.html, words.text, dict(parts), None
    )
    return CachedVersion(Compiler(), nameless)


def _refused(index: int, fault: InvalidField) -> PostmarkRefusal:
    """Return the error of a request of which one message is refused. Pure."""
    code, message = field_description(fault)
    return PostmarkRefusal(code, f"Messages[{index}]: {message}")


BULK_ENDPOINTS = (
    sending_endpoint(_PATH, "Send one content to up to 10,000 recipients.", send),
    Endpoint(
        "GET",
        f"{_PATH}/{{batch_id}}",
        Scope.EMAIL_READ,
        "Show the progress of a bulk request.",
        show,
        once=Once.NEVER,
        test_keys=ForTestKeys.OWN,
    ),
)
