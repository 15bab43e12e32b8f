"""Makes the record of one email's transaction, for attempts that were not accepted. Pure.

While an email is sent only references are kept; lines are written when the record is asked for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mailqueue.core.conversation import (
    ConversationRecord,
    SaidBy,
    SaidLine,
    bounded,
    shown_line,
    without,
)
from mailqueue.smtp.client.replies import Malformed, Reply

MAX_OPENING_BYTES = 2 * 1024
"""Bytes, as JSON, of the lines before the first email that are kept for each connection."""
SHOWN_CHARACTERS = 2048
"""Characters of one reply that are shown; a reply may have 128 lines of 4 KB each."""


class Unread(bytes):
    """Received bytes that are not a whole reply."""


class ReadAhead(bytes):
    """Four replies read at once: to the dot of the email before, then to MAIL, RCPT and DATA."""


Said = tuple[bytes, ...] | Reply | Malformed | Unread | ReadAhead | int
"""Commands that were written together, what was received, or the size of a message in bytes."""
LogEntry = tuple[float, Said]
"""An event of a transaction, and the event loop's time of it."""


@dataclass(frozen=True, slots=True)
class OpeningRecord:
    """The lines before the first email of a connection, and the loop's time when it began.

    `hidden` are the credentials, in every encoding in which a server may repeat them.
    """

    lines: tuple[SaidLine, ...]
    began: float
    hidden: tuple[str, ...] = ()


def opening_of(
    lines: Sequence[SaidLine], *, began: float, hidden: Sequence[str] = ()
) -> OpeningRecord:
    """Return the record of a connection's opening, of bounded size."""
    longest_first = tuple(sorted(filter(None, hidden), key=len, reverse=True))
    shown = [line._replace(text=shown_line(without(line.text, longest_first))) for line in lines]
    kept = bounded(shown, max_bytes=MAX_OPENING_BYTES)
    return OpeningRecord(tuple(kept), began, longest_first)


def record_of(
    opening: OpeningRecord, log: Sequence[LogEntry], *, ended: float, why: str
) -> ConversationRecord:
    """Return the record of one transaction; `why` its connection ended, "" if a reply ended it."""
    lines = [*opening.lines]
    for at, said in log:
        by = SaidBy.SERVER if isinstance(said, (Reply, Malformed, bytes)) else SaidBy.CLIENT
        ms = _ms(opening, at)
        lines += [SaidLine(ms, by, text) for text in _texts(said, opening.hidden)]
    if why:
        lines.append(SaidLine(_ms(opening, ended), SaidBy.NOTE, why))
    return ConversationRecord("smtp", tuple(lines))


def _ms(opening: OpeningRecord, at: float) -> int:
    return max(0, round((at - opening.began) * 1000))


def _texts(said: Said, hidden: Sequence[str]) -> Iterator[str]:
    match said:
        case Reply(code, text):
            shown = _text(text, hidden)
            *others, last = shown[:SHOWN_CHARACTERS].split("\n")
            yield from (f"{code}-{line}" for line in others)
            yield f"{code} {last}"
            if len(shown) > SHOWN_CHARACTERS:
                yield f"(cut; the reply has {len(text)} bytes)"
        case ReadAhead():
            yield from (_text(line, hidden) for line in said.split(b"\r\n")[1:4])
        case Malformed():
            yield from _texts(Unread(said.unread), hidden)
        case Unread():
            lines = _text(said, hidden)[:SHOWN_CHARACTERS].splitlines()
            yield from (f"(not a whole reply) {line}" for line in lines)
        case int():
            yield f"(the message, {said} bytes)"
            yield "."
        case commands:
            for command in commands:
                yield _text(command.rstrip(b"\r\n"), hidden)


def _text(octets: bytes, hidden: Sequence[str]) -> str:
    return without(octets.decode("utf-8", "replace"), hidden)
