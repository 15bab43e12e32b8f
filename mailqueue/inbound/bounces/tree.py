"""Parse the MIME parts of a bounce, bounded in size, depth and time. Pure.

Never raises. CR, LF and CRLF all end a line: bounces pass through many programs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from mailqueue.mime.decode import octets_to_text, words_to_text
from mailqueue.mime.reader import (
    MimeLimits,
    Part,
    fields_of,
    read_message,
    transfer_decoded,
    unified,
)

DEFAULT_LIMITS = MimeLimits(
    message_bytes=2 * 1024 * 1024,
    header_bytes=128 * 1024,
    headers=500,
    field_bytes=8_192,
    parts=100,
    depth=8,
    text_bytes=64 * 1024,
    opens_messages=True,
)


@dataclass(frozen=True, slots=True)
class BouncePart:
    """One MIME part: header fields unfolded and in order, `octets` as transferred."""

    content_type: str
    fields: tuple[tuple[str, str], ...]
    octets: bytes
    children: tuple["BouncePart", ...] = ()
    report_type: str = ""
    charset: str = ""
    encoding: str = ""
    text_bytes: int = DEFAULT_LIMITS.text_bytes

    def values(self, name: str) -> list[str]:
        """Return the values of all fields of that name."""
        wanted = name.lower()
        return [value for key, value in self.fields if key.lower() == wanted]

    def header(self, name: str) -> str:
        """Return the first field of that name, encoded words decoded; "" where it is missing."""
        found = self.values(name)
        return words_to_text(found[0]) if found else ""

    def text(self) -> str:
        """Return the decoded text with LF line ends, cut at the limit."""
        octets = transfer_decoded(self.octets[: 2 * self.text_bytes], self.encoding)
        text = octets_to_text(octets[: self.text_bytes], self.charset or "utf-8")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def walk(self) -> Iterator["BouncePart"]:
        """Yield this part and all parts below it, in document order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class BounceTree:
    """A parsed message; `is_complete` is false where a limit cut something off."""

    root: BouncePart
    is_complete: bool


def read_tree(raw: bytes, limits: MimeLimits = DEFAULT_LIMITS) -> BounceTree:
    """Parse a message, whatever its bytes."""
    octets = unified(raw[: limits.message_bytes]).lstrip(b"\n")
    if octets.startswith((b"From ", b">From ")):  # the separator line of mbox files
        octets = octets.partition(b"\n")[2]
    read = read_message(octets, limits)
    is_complete = read.is_complete and len(raw) <= limits.message_bytes
    return BounceTree(_bounce_part(read.root, limits), is_complete)


def read_fields(text: str, limits: MimeLimits = DEFAULT_LIMITS) -> tuple[tuple[str, str], ...]:
    """Return the header fields of a text, unfolded; lines that are no field are left out."""
    return tuple(
        (name, _on_one_line(value, limits))
        for name, value in islice(fields_of(text), limits.headers)
    )


def _bounce_part(part: Part, limits: MimeLimits) -> BouncePart:
    return BouncePart(
        part.content.get_content_type(),
        tuple((name, _on_one_line(value, limits)) for name, value in part.fields),
        part.body,
        tuple(_bounce_part(child, limits) for child in part.children),
        part.parameter("report-type").lower(),
        part.parameter("charset"),
        part.encoding,
        limits.text_bytes,
    )


def _on_one_line(value: str, limits: MimeLimits) -> str:
    lines = value[: limits.field_bytes].split("\n")
    return " ".join(line.strip() for line in lines).strip()
