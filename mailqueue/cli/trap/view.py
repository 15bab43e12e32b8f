"""Output of caught emails."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mailqueue.contract.trap import CaughtAttachment, CaughtEmail, CaughtEmailContent
from mailqueue.mime.parse import ShownMessage, parse_message
from mailqueue.mime.reader import MimeLimits
from mailqueue.trap.model import TrapMessage

_HEADERS_ONLY = MimeLimits(text_bytes=0, parts=1, depth=0)


@dataclass(frozen=True, slots=True)
class Printed:
    """One caught email, ready to print."""

    facts: Sequence[tuple[str, object]]
    text: str


def caught_email(message: TrapMessage) -> CaughtEmail:
    """Return a message without its texts."""
    return CaughtEmail(**_light(message, parse_message(message.raw, _HEADERS_ONLY)))


def caught_content(message: TrapMessage) -> CaughtEmailContent:
    """Return a message with text, HTML, headers and the names of its attachments."""
    content = parse_message(message.raw)
    attachments = [
        CaughtAttachment(each.filename, each.content_type, each.size_bytes)
        for each in content.attachments
    ]
    return CaughtEmailContent(
        **_light(message, content),
        text=content.text,
        html=content.html,
        headers=content.headers,
        attachments=attachments,
    )


def _light(message: TrapMessage, content: ShownMessage) -> dict[str, Any]:
    return {
        "id": message.id,
        "received_at": message.received_at,
        "mail_from": message.mail_from,
        "rcpt_to": message.rcpt_to,
        "subject": content.subject,
        "from_": content.sender,
        "to": content.to,
        "message_id": content.header("Message-ID").strip(),
        "size_bytes": message.size_bytes,
    }


def printed(message: TrapMessage) -> Printed:
    """Return a message for the terminal, without control characters."""
    content = parse_message(message.raw)
    attached = [f"{each.filename} ({each.size_bytes} bytes)" for each in content.attachments]
    body = content.text if content.text is not None else content.html or ""
    return Printed(
        facts=(
            ("subject", content.subject),
            ("from", content.sender),
            ("to", content.to),
            ("envelope from", message.mail_from or "<>"),
            ("envelope to", message.rcpt_to),
            ("caught", message.received_at),
            ("bytes", message.size_bytes),
            ("attachments", attached),
        ),
        text="\n".join(_plain(line) for line in body.splitlines()),
    )


def _plain(line: str) -> str:
    return "".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in line)
