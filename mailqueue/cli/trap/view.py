"""Output of caught emails."""

from collections.abc import Sequence
from dataclasses import dataclass

from mailqueue.mime.parse import parse_message
from mailqueue.mime.reader import MimeLimits
from mailqueue.trap.model import TrapMessage

_HEADERS_ONLY = MimeLimits(text_bytes=0, parts=1, depth=0)


@dataclass(frozen=True, slots=True)
class Printed:
    """One caught email, ready to print."""

    facts: Sequence[tuple[str, object]]
    text: str


def document(message: TrapMessage, *, full: bool) -> dict[str, object]:
    """Return a message as a JSON object; `full` adds text, HTML and headers."""
    content = parse_message(message.raw, None if full else _HEADERS_ONLY)
    light: dict[str, object] = {
        "id": message.id,
        "received_at": message.received_at,
        "mail_from": message.mail_from,
        "rcpt_to": message.rcpt_to,
        "subject": content.subject,
        "from": content.sender,
        "to": content.to,
        "message_id": content.header("Message-ID").strip(),
        "size_bytes": message.size_bytes,
    }
    if not full:
        return light
    return light | {
        "text": content.text,
        "html": content.html,
        "headers": content.headers,
        "attachments": content.attachments,
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
