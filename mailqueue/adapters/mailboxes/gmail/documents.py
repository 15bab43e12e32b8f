"""Documents of the API of Gmail: history, labels and metadata, read without trust. Pure."""

import html
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from mailqueue.adapters.http.model import HttpResponse
from mailqueue.adapters.mailboxes.gmail.session import odd

REFUSED_LABELS = frozenset({"SENT", "DRAFT", "SPAM", "TRASH"})
MAX_HEADER_CHARACTERS = 8000
MAX_SNIPPET_CHARACTERS = 1000
MAX_ID_CHARACTERS = 200
HEADERS = ("From", "Sender", "Subject", "Message-ID")


def history_query(label: str, start: int, page: str) -> str:
    asked = {"startHistoryId": str(start), "historyTypes": "messageAdded", "labelId": label}
    fields = "history(id,messagesAdded(message(id,labelIds))),nextPageToken,historyId"
    return urlencode(asked | ({"pageToken": page} if page else {}) | {"fields": fields})


def added_ids(record: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for one in objects(record.get("messagesAdded")):
        message = one.get("message")
        if not isinstance(message, dict) or texts(message.get("labelIds")) & REFUSED_LABELS:
            continue
        known = message.get("id")
        if isinstance(known, str) and 0 < len(known) <= MAX_ID_CHARACTERS and known not in found:
            found.append(known)
    return found


def written(document: dict[str, Any]) -> bytes:
    """Return a message with the headers and the snippet as its text, for a reader of mail."""
    payload = document.get("payload")
    headers = objects(payload.get("headers")) if isinstance(payload, dict) else ()
    values: dict[str, str] = {}
    for one in headers:
        name, value = one.get("name"), one.get("value")
        if isinstance(name, str) and isinstance(value, str):
            values.setdefault(name.lower(), " ".join(value[:MAX_HEADER_CHARACTERS].split()))
    snippet = document.get("snippet")
    text = html.unescape(snippet[:MAX_SNIPPET_CHARACTERS]) if isinstance(snippet, str) else ""
    lines = [f"{name}: {values[name.lower()]}" for name in HEADERS if name.lower() in values]
    lines += ["Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit"]
    return "\r\n".join([*lines, "", text]).encode("utf-8", "replace")


def object_of(answer: HttpResponse) -> dict[str, Any]:
    found = answer.document()
    if not isinstance(found, dict):
        raise odd("no JSON object")
    return found


def objects(value: object) -> Iterable[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else ()


def texts(value: object) -> set[str]:
    return {one for one in value if isinstance(one, str)} if isinstance(value, list) else set()


def number(value: object) -> int:
    text = str(value)
    if isinstance(value, bool) or not text.isascii() or not text.isdigit() or len(text) > 20:
        raise odd("a number of history that is none")
    return int(text)


def instant(value: object) -> datetime:
    try:
        return datetime.fromtimestamp(int(str(value)) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.now(UTC)
