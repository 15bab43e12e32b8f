"""The table of hostile input, and the mails that contain each of it in each field."""

import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


def _written_out(value: str | list[tuple[str, int]]) -> str:
    """Return a value of the table; a long one is written as pieces and their number of
    repetitions.
    """
    return value if isinstance(value, str) else "".join(text * times for text, times in value)


TABLE: dict[str, dict[str, str]] = {
    kind: {name: _written_out(value) for name, value in values.items()}
    for kind, values in json.loads(
        (Path(__file__).parents[1] / "payloads" / "hostile.json").read_text("utf-8")
    ).items()
}
WORDS, BODIES, PLACES = TABLE["words"], TABLE["bodies"], TABLE["places"]
_PDF = b64encode(b"%PDF-1.7 octets").decode()
SENDER, ANN = "shop@example.com", "ann@example.com"


@dataclass(frozen=True)
class Case:
    """One mail, as the columns of `email_queue`, with a hostile `value` in its field `place`."""

    place: str
    name: str
    value: str
    columns: dict[str, Any] = field(hash=False)

    @property
    def is_storable(self) -> bool:
        """Return whether PostgreSQL can store the value as text."""
        return "\0" not in self.value and not any("\ud800" <= c <= "\udfff" for c in self.value)

    def __str__(self) -> str:
        return f"{self.place}: {self.name}"


def named(name: str, address: str) -> str:
    """Return a mailbox with that display name, quoted."""
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}" <{address}>'


def cases() -> Iterator[Case]:
    """Yield every value of the table in every field where it could do harm."""
    for name, value in WORDS.items():
        for place, changed in _with_words(value).items():
            yield Case(place, name, value, _mail(**changed))
    for name, value in BODIES.items():
        yield Case("text", name, value, _mail(text_body=value))
        yield Case("html", name, value, _mail(html_body=value, text_body=None))
        yield Case("both", name, value, _mail(html_body=value, text_body=value))
    for name, value in PLACES.items():
        yield Case("recipient", name, value, _mail(recipient_email=value))
        yield Case("copy", name, value, _mail(cc=[value]))
        yield Case("blind copy", name, value, _mail(bcc=[value]))
        yield Case("sender", name, value, _mail(from_email=value))
        yield Case("answers", name, value, _mail(reply_to=value))


def _with_words(value: str) -> dict[str, dict[str, Any]]:
    return {
        "subject": {"subject": value},
        "recipient's name": {"recipient_name": value},
        "sender's name": {"from_email": SENDER, "from_name": value},
        "name in answers": {"reply_to": named(value, "answers@example.com")},
        "name in copy": {"cc": [named(value, "copy@example.com")]},
        "header": {"headers": {"X-Odd": value}},
        "unsubscribe": {"headers": {"List-Unsubscribe": value}},
        "header's name": {"headers": {value: "x"}},
        "tag": {"tags": [value]},
        "campaign": {"campaign_id": value},
        "category": {"category": value},
        "custom data": {"custom_data": {value: [value]}},
        "file's name": {"attachments": [_file(filename=value)]},
        "file's type": {"attachments": [_file(content_type=value)]},
        "content id": {
            "attachments": [_file(content_id=value)],
            "html_body": "<p>Hi</p>",
            "text_body": None,
        },
    }


def _file(**changed: str) -> dict[str, str]:
    file = {"filename": "a.pdf", "content_type": "application/pdf", "content": _PDF}
    return file | changed


def _mail(**changed: Any) -> dict[str, Any]:
    whole = {"recipient_email": ANN, "subject": "Hello", "text_body": "Hi"} | changed
    return {name: value for name, value in whole.items() if value is not None}
