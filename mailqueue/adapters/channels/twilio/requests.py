"""Requests of Twilio: their signature, and what they say. Pure.

https://www.twilio.com/docs/usage/webhooks/webhooks-security
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from mailqueue.adapters.channels.twilio.errors import MEANING_BY_CODE, reason_of
from mailqueue.core.secret import Secret
from mailqueue.ports.channel import MessageReport, PostResult

MAX_BYTES = 64 * 1024
MAX_FIELDS = 200
MAX_TEXT = 1600
"""Characters of a message that are read."""
OUT_WORDS = frozenset({"stop", "stopall", "unsubscribe", "cancel", "end", "quit", "revoke"})
OUT_WORDS |= {"optout", "stop all", "opt out"}
IN_WORDS = frozenset({"start", "unstop", "yes"})
_SENT = frozenset({"sent"})
_DELIVERED = frozenset({"delivered", "read"})
_FAILED = frozenset({"failed", "undelivered", "canceled"})
_MESSAGE = re.compile(r"(SM|MM)[0-9a-f]{32}")
_ACCOUNT = re.compile(r"AC[0-9a-f]{32}")
_NUMBER = re.compile(r"whatsapp:(\+[1-9][0-9]{6,14})")
_EDGES = " \t\r\n.!\"'*"
_PORTS = {"https": 443, "http": 80}

FormFields = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class PersonReply:
    """A message of a person; `word` is one that ends (`is_out`) or begins a channel, or None."""

    message: str
    account: str
    sender: str
    number: str
    text: str
    is_out: bool
    word: str | None


def fields_of(body: bytes) -> FormFields | None:
    """Return the fields of a form, None for one that is no form in UTF-8."""
    try:
        return parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=MAX_FIELDS,
        )
    except ValueError:
        return None


def is_signed(signature: str, url: str, fields: FormFields, token: Secret) -> bool:
    """Return whether a request to a URL has Twilio's signature: with or without the port."""
    given = signature.encode("utf-8", "surrogateescape")
    is_right = False
    for one in _spellings(url):
        is_right |= hmac.compare_digest(signature_of(one, fields, token).encode(), given)
    return is_right


def signature_of(url: str, fields: FormFields, token: Secret) -> str:
    """Return the signature of a request: HMAC-SHA1 over the URL and the sorted fields."""
    pairs = "".join(name + value for name, value in sorted(set(fields)))
    made = hmac.new(token.reveal().encode(), f"{url}{pairs}".encode(), hashlib.sha1)
    return base64.b64encode(made.digest()).decode()


def report_of(fields: FormFields) -> MessageReport | None:
    """Return what a request reports of a message, None where that is nothing of interest."""
    found = dict(reversed(fields))
    message, status = found.get("MessageSid", ""), found.get("MessageStatus", "").lower()
    if _MESSAGE.fullmatch(message) is None:
        return None
    if status in _DELIVERED:
        return MessageReport(message, "delivered", PostResult.DELIVERED)
    if status in _SENT:
        return MessageReport(message, "sent", PostResult.SENT)
    if status not in _FAILED:
        return None
    written = found.get("ErrorCode", "")
    code = int(written) if re.fullmatch(r"[0-9]{1,6}", written, re.ASCII) else None
    meaning = MEANING_BY_CODE.get(code or 0, PostResult.REFUSED)
    return MessageReport(message, "failed", meaning, reason_of(code))


def reply_of(fields: FormFields) -> PersonReply | None:
    """Return the message of a person that a request is about, None where it has none."""
    found = dict(reversed(fields))
    message = found.get("MessageSid", "")
    number = _NUMBER.fullmatch(found.get("From", ""))
    sender = _NUMBER.fullmatch(found.get("To", ""))
    if number is None or sender is None or _MESSAGE.fullmatch(message) is None:
        return None
    account = found.get("AccountSid", "")
    if _ACCOUNT.fullmatch(account) is None:
        return None
    text = found.get("Body", "")[:MAX_TEXT]
    words = " ".join(text.split()).strip(_EDGES).casefold()[:100]
    kind = found.get("OptOutType", "").casefold()  # of accounts that have words of their own
    if kind in {"stop", "start"}:
        words = kind
    is_out = words in OUT_WORDS
    word = words.upper() if is_out or words in IN_WORDS else None
    return PersonReply(message, account, sender[1], number[1], text, is_out, word)


def _spellings(url: str) -> Sequence[str]:
    """Return a URL without and with its port: Twilio signs either."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    port = parts.port or _PORTS.get(parts.scheme, 443)
    return [urlunsplit(parts._replace(netloc=one)) for one in (shown, f"{shown}:{port}")]
