"""Writes header fields: encoding, folding and validation. Pure.

The standard library's encoder is not used: in some Python versions an ASCII encoded word in a value
is written decoded, with its line ends.
"""

import re
from collections.abc import Sequence

from mailqueue.core.address import Mailbox
from mailqueue.mime.encoded_words import MAX_WORD_BYTES, encoded_words

MAX_LINE_BYTES = 76
MAX_NAME_BYTES = 76
MAX_TOKEN_BYTES = 900  # a run without spaces; with the longest name less than 998

# Not to be set by callers: written here, or trusted by receivers as written by a server.
RESERVED = frozenset(
    {
        "from",
        "to",
        "cc",
        "bcc",
        "subject",
        "date",
        "message-id",
        "mime-version",
        "dkim-signature",
        "return-path",
        "received",
        "sender",
        "reply-to",
    }
)

# RFC 5322 3.6.8: printable ASCII without the colon.
_NAME = re.compile(rf"[!-9;-~]{{1,{MAX_NAME_BYTES}}}")
# C0, DEL, NEL and Unicode separators may be read as line ends; surrogates cannot be encoded.
_FORBIDDEN = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")
_TOKEN = re.compile("(?<! ) *[^ ]+")
_ATOM_PHRASE = re.compile(r"[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+(?: [A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+)*")


def check_value(name: str, value: str) -> None:
    """Refuse a value that no header can contain.

    Raises:
        ValueError: it has a control character; the message names header and character.
    """
    if found := _FORBIDDEN.search(value):
        raise ValueError(f"{name} contains the control character U+{ord(found[0]):04X}")


def check_header(name: str, value: str) -> None:
    """Refuse a header that a caller may not add to a message.

    Raises:
        ValueError: the message names the header and the reason.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"header name {name[:MAX_NAME_BYTES]!r} is not 1 to {MAX_NAME_BYTES} printable ASCII "
            "characters without a colon"
        )
    if name.lower() in RESERVED or name.lower().startswith("content-"):
        raise ValueError(f"{name} is set by mailqueue and cannot be overridden")
    check_value(name, value)


def unstructured(name: str, value: str) -> bytes:
    """Return one header with a text value, folded, with its line end.

    Readers decode exactly `value`.

    Raises:
        ValueError: the value contains a control character.
    """
    check_value(name, value)
    if not _is_plain(value):
        words = encoded_words(value, first=MAX_LINE_BYTES - len(name) - 2)
        return _folded(name, [f" {word}" for word in words])
    if value and len(name) + 2 + len(value) <= MAX_LINE_BYTES:
        return f"{name}: {value}\r\n".encode()
    return _folded(name, _TOKEN.findall(f" {value}"), keeps_first=True)


def addresses(name: str, mailboxes: Sequence[Mailbox]) -> bytes:
    """Return one header that lists mailboxes, folded, with its line end.

    Addresses beyond ASCII are raw UTF-8 (RFC 6532); everything else is ASCII.

    Raises:
        ValueError: a name contains a control character.
    """
    if len(mailboxes) == 1 and not mailboxes[0].name:  # most To headers
        line = f"{name}: {mailboxes[0].address.sent}".encode()
        if len(line) <= MAX_LINE_BYTES:
            return line + b"\r\n"
    tokens: list[str] = []
    room = MAX_LINE_BYTES - len(name) - 2
    for mailbox in mailboxes:
        check_value(name, mailbox.name)
        if tokens:
            tokens[-1] += ","
            room = MAX_WORD_BYTES
        tokens += [f" {token}" for token in _mailbox_tokens(mailbox, room)]
    return _folded(name, tokens)


def _is_plain(value: str) -> bool:
    """Return whether a value needs no encoding: readers do not decode or trim it, and it folds."""
    return (
        value.isascii()
        and "=?" not in value
        and value[:1] != " "
        and value[-1:] != " "
        and (
            len(value) <= MAX_TOKEN_BYTES or max(map(len, _TOKEN.findall(value))) <= MAX_TOKEN_BYTES
        )
    )


def _mailbox_tokens(mailbox: Mailbox, room: int) -> list[str]:
    """Return the tokens of one mailbox, between which a line may be folded."""
    name = mailbox.name
    if not name:
        return [mailbox.address.sent]
    address = f"<{mailbox.address.sent}>"
    if _ATOM_PHRASE.fullmatch(name) and len(name) <= MAX_LINE_BYTES and "=?" not in name:
        return [*name.split(" "), address]
    # Some readers decode encoded words in quoted strings, though RFC 2047 forbids them: not plain.
    if _is_plain(quoted := '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'):
        return [*(token.removeprefix(" ") for token in _TOKEN.findall(quoted)), address]
    return [*encoded_words(name, first=room), address]


def _folded(name: str, tokens: Sequence[str], *, keeps_first: bool = False) -> bytes:
    """Join tokens that begin with a space, folding before each that does not fit on the line.

    With `keeps_first` there is no fold right after the colon: some readers would keep its space as
    part of the value.
    """
    lines = [f"{name}:".encode()]
    for token in tokens:
        octets = token.encode()
        if len(lines[-1]) + len(octets) <= MAX_LINE_BYTES or (keeps_first and token is tokens[0]):
            lines[-1] += octets
        else:
            lines.append(octets)
    return b"\r\n".join(lines) + b"\r\n"
