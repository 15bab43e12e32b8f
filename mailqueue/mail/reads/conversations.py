"""Reads the record of an attempt as the value that callers see. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from mailqueue.contract.emails import Attempt, AttemptConversation, ConversationLine

A = TypeVar("A", bound=Attempt)


def with_conversation(attempt: A) -> A:
    """Return an attempt, read from a row, with its conversation as a value."""
    return replace(attempt, conversation=conversation_of(attempt.conversation))


def conversation_of(document: Any) -> AttemptConversation | None:
    """Return the conversation of a document; None where there is none or it is not one."""
    match document:
        case {"protocol": str(protocol), "lines": list(lines), **others}:
            body = others.get("body")
            read = [_line(one) for one in lines if isinstance(one, Mapping)]
            return AttemptConversation(protocol, read, body if isinstance(body, str) else None)
    return None


def _line(found: Mapping[str, Any]) -> ConversationLine:
    ms = found.get("ms")
    by, text = (str(found.get(name) or "") for name in ("by", "text"))
    return ConversationLine(ms if isinstance(ms, int) else 0, by, text)
