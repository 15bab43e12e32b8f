"""Makes the record of the requests that sent an email, for attempts that were not accepted. Pure.

A record has no request headers and no request body: these hold the credentials and the message.
"""

import re
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import NamedTuple

from mailqueue.adapters.http.model import HttpResponse
from mailqueue.adapters.sending.redaction import redacted
from mailqueue.core.conversation import (
    MAX_BODY_BYTES,
    ConversationRecord,
    SaidBy,
    SaidLine,
)
from mailqueue.core.secret import Secret
from mailqueue.core.verdict import Accepted, Rejected, Verdict, with_conversation
from mailqueue.telemetry.log import get_logger

MAX_SEARCHED_BYTES = 8 * 1024
"""Bytes of a reply's body in which credentials are redacted, before MAX_BODY_BYTES are kept."""
SHOWN_HEADERS = re.compile(
    r"content-type|date|retry-after|server|location|www-authenticate|via|cf-ray"
    r"|(?:x-)?(?:amzn?-)?request-?id|x-message-id|x-amzn-error-?type|(?:x-)?rate-?limit[a-z-]*"
)

log = get_logger(__name__)


class HttpExchange(NamedTuple):
    """One request and what came of it; times are the event loop's."""

    began: float
    ended: float
    request: str  # method and URL
    body_bytes: int
    answer: HttpResponse | Rejected


def recorded(
    verdicts: Sequence[Verdict], exchanges: Sequence[HttpExchange], *, secrets: Sequence[Secret]
) -> Sequence[Verdict]:
    """Return the verdicts of the emails of one request; those not accepted have its record."""
    if not exchanges or all(map(_is_accepted, verdicts)):
        return verdicts
    try:
        return [
            verdict
            if _is_accepted(verdict)
            else with_conversation(verdict, _record(exchanges, verdict, len(verdicts), secrets))
            for verdict in verdicts
        ]
    except Exception:  # the verdicts count without it
        log.exception("conversation.not_recorded", request=exchanges[-1].request)
        return verdicts


def _is_accepted(verdict: Verdict) -> bool:
    return isinstance(verdict, Accepted) and not verdict.refused


def _record(
    exchanges: Sequence[HttpExchange], verdict: Verdict, emails: int, secrets: Sequence[Secret]
) -> ConversationRecord:
    """Return the record for one of the `emails` of a request.

    The body of a reply about several emails names the recipients of all: only what it says about
    this one is kept.
    """
    lines = [
        line._replace(text=redacted(line.text, secrets))
        for exchange in exchanges
        for line in _lines(exchange, exchanges[0].began, emails)
    ]
    answer = exchanges[-1].answer
    if not isinstance(answer, HttpResponse) or not answer.body:
        return ConversationRecord("http", tuple(lines))
    last, size = lines[-1].ms, len(answer.body)
    if emails > 1:
        why = verdict if isinstance(verdict, Rejected) else verdict.refused[0].why
        said = f"(the reply is about {emails} emails; about this one: {why.detail})"
        return ConversationRecord("http", (*lines, SaidLine(last, SaidBy.NOTE, said)))
    if size > MAX_BODY_BYTES:
        said = f"(the reply's body has {size} bytes; the first {MAX_BODY_BYTES} are kept)"
        lines.append(SaidLine(last, SaidBy.NOTE, said))
    body = answer.body[:MAX_SEARCHED_BYTES].decode("utf-8", "replace")
    return ConversationRecord("http", tuple(lines), redacted(body, secrets))


def _lines(exchange: HttpExchange, began: float, emails: int) -> Iterator[SaidLine]:
    sent, came = (round((at - began) * 1000) for at in (exchange.began, exchange.ended))
    what = "the message" if emails == 1 else f"{emails} messages"
    yield SaidLine(sent, SaidBy.CLIENT, exchange.request)
    yield SaidLine(sent, SaidBy.CLIENT, f"({what}, {exchange.body_bytes} bytes)")
    answer = exchange.answer
    if isinstance(answer, Rejected):
        yield SaidLine(came, SaidBy.NOTE, answer.detail)
        return
    yield SaidLine(came, SaidBy.SERVER, f"{answer.status} {_phrase(answer.status)}".rstrip())
    for name, value in answer.headers.items():
        if SHOWN_HEADERS.fullmatch(name):
            yield SaidLine(came, SaidBy.SERVER, f"{name}: {value}")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
