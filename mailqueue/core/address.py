"""Parses email addresses into the form that is sent and the key that is compared. Pure."""

import re
import unicodedata
from enum import StrEnum
from typing import NamedTuple

import idna

from mailqueue.core.lettercase import lower_letters

MAX_LOCAL_BYTES = 64  # bytes; RFC 5321 4.5.3.1.1
MAX_ADDRESS_BYTES = 254  # bytes; RFC 5321 4.5.3.1.3, the path without angle brackets
INPUT_CHARACTERS = 1_000  # a longer text cannot become a valid address, and IDNA would take long

_SHOWN_CHARACTERS = 100

# Controls, line separators, bidi controls, invisible characters, lone surrogates. The joiners
# U+200C and U+200D stay: Persian domains and emoji need them.
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff]"
)
_NAME_CONTROL = re.compile("[\x00-\x1f\x7f\x85\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_ATOM = r"[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~\u0080-\U0010ffff]+"
_LOCAL = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
# Resolvers read a name that ends in a number, such as 0x7f.1 or 2130706433, as an IPv4 address.
_NUMERIC = re.compile(r"(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$")
# Matches nearly every address; the others take the slow path, which finds the error.
_USUAL = re.compile(
    r"([A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*)"
    r"@((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,})"
)
_USUAL_CHARACTERS = 63  # so that no label is too long
_NAME_WORD = re.compile(r'[ ]*(?:"((?:[^"\\]|\\.)*)"|([^ "<>(),:;@\\]+))')


class Reason(StrEnum):
    """The reason why a text is not a valid address."""

    EMPTY = "empty"
    TOO_LONG = "too_long"
    LOCAL_TOO_LONG = "local_too_long"
    NO_AT = "no_at"
    BAD_LOCAL = "bad_local"
    BAD_DOMAIN = "bad_domain"
    CONTROL_CHARACTER = "control_character"
    WHITESPACE = "whitespace"
    IP_LITERAL = "ip_literal"
    NO_DOT = "no_dot"
    BAD_NAME = "bad_name"  # only from parse_mailbox


_SENTENCE_BY_REASON = {
    Reason.EMPTY: "the address is empty",
    Reason.TOO_LONG: f"{{}} is longer than {MAX_ADDRESS_BYTES} bytes",
    Reason.LOCAL_TOO_LONG: f"{{}} has more than {MAX_LOCAL_BYTES} bytes before the @",
    Reason.NO_AT: "{} has no @",
    Reason.BAD_LOCAL: "{} is not valid: the part before the last @ has invalid characters",
    Reason.BAD_DOMAIN: "{} has no valid domain after the @",
    Reason.CONTROL_CHARACTER: "{} contains a control or invisible character",
    Reason.WHITESPACE: "{} contains white space",
    Reason.IP_LITERAL: "{} has an IP address as its domain",
    Reason.NO_DOT: "{} has a domain without a dot",
    Reason.BAD_NAME: '{} is not a mailbox such as Name <name@domain> or "Name" <name@domain>',
}


class InvalidAddress(ValueError):
    """A text that is not a valid address; the message is a sentence with the text in it."""

    def __init__(self, reason: Reason, text: str) -> None:
        self.reason = reason
        shown = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
        super().__init__(_SENTENCE_BY_REASON[reason].format(repr(shown)))


class Address(NamedTuple):
    """One validated address: the local part as given, the domain in A-label form."""

    local: str
    domain: str
    needs_smtputf8: bool

    @property
    def sent(self) -> str:
        """Return the address as used in the envelope and the headers."""
        return f"{self.local}@{self.domain}"

    @property
    def key(self) -> str:
        """Return the form in which addresses are compared, the same as SQL's address_key()."""
        if self.local.isascii():
            return f"{self.local.lower()}@{self.domain}"
        return f"{unicodedata.normalize('NFC', lower_letters(self.local))}@{self.domain}"

    @property
    def spellings(self) -> tuple[str, ...]:
        """Return the key, and the key with its domain in Unicode if that differs.

        Logs and old records may have the address in either form.
        """
        local = self.key.rpartition("@")[0]
        written = _to_u_labels(self.domain) if "xn--" in self.domain else self.domain
        return tuple(dict.fromkeys((f"{local}@{self.domain}", f"{local}@{written}")))


def key_of(text: str) -> str:
    """Return the key of an address; a text that is not an address in lower case. Pure."""
    if text.isascii():
        return text.lower()
    try:
        return parse_address(text).key
    except InvalidAddress:
        return lower_letters(text)


class Mailbox(NamedTuple):
    """An address with its display name, which may be empty."""

    name: str
    address: Address


def parse_address(text: str) -> Address:
    """Parse one address without a display name; spaces and tabs around it are removed. Pure.

    The domain is mapped by UTS 46 and IDNA 2008. Quoted local parts, comments and IP literals are
    refused: RFC 5322 allows them, but they are rare and often used to confuse parsers.

    Raises:
        InvalidAddress: a ValueError with the reason and a sentence naming the text.
    """
    if len(text) <= _USUAL_CHARACTERS and (usual := _USUAL.fullmatch(text)) and "--" not in text:
        return Address(usual[1], usual[2], needs_smtputf8=False)
    return _parsed(text)


def _parsed(text: str) -> Address:
    trimmed = text.strip(" \t")
    if fault := _fault_of_text(trimmed):
        raise InvalidAddress(fault, text)
    written_local, _, written_domain = trimmed.rpartition("@")
    # Composed (NFC) before it is checked: composition turns U+037E into a semicolon.
    local = unicodedata.normalize("NFC", written_local)
    if not _LOCAL.fullmatch(local):
        raise InvalidAddress(Reason.BAD_LOCAL, text)
    if len(local.encode()) > MAX_LOCAL_BYTES:
        raise InvalidAddress(Reason.LOCAL_TOO_LONG, text)
    domain = _to_a_labels(written_domain)
    if fault := _fault_of_domain(domain):
        raise InvalidAddress(fault, text)
    if len(local.encode()) + 1 + len(domain) > MAX_ADDRESS_BYTES:
        raise InvalidAddress(Reason.TOO_LONG, text)
    return Address(local, domain, needs_smtputf8=not local.isascii())


def parse_mailbox(text: str) -> Mailbox:
    """Parse a mailbox: `ann@example.com`, `Ann <ann@example.com>` or `"A, B" <ann@example.com>`.

    Encoded words in the name are kept as text. Comments, groups and several addresses are refused.
    Pure.

    Raises:
        InvalidAddress: as `parse_address`; `bad_name` if the name or the angle brackets are wrong.
    """
    trimmed = text.strip(" \t")
    if len(trimmed) > INPUT_CHARACTERS:
        raise InvalidAddress(Reason.TOO_LONG, text)
    if not trimmed.endswith(">"):
        # Without angle brackets, parse_address refuses quotes and brackets.
        return Mailbox("", parse_address(text))
    if _NAME_CONTROL.search(trimmed):
        raise InvalidAddress(Reason.CONTROL_CHARACTER, text)
    name, end = _leading_name(trimmed)
    if not trimmed.startswith("<", end):
        raise InvalidAddress(Reason.BAD_NAME, text)
    return Mailbox(name, parse_address(trimmed[end + 1 : -1]))


def _fault_of_text(trimmed: str) -> Reason | None:
    if not trimmed:
        return Reason.EMPTY
    if len(trimmed) > INPUT_CHARACTERS:
        return Reason.TOO_LONG
    if _CONTROL.search(trimmed):
        return Reason.CONTROL_CHARACTER
    if any(map(str.isspace, trimmed)):
        return Reason.WHITESPACE
    return None if "@" in trimmed else Reason.NO_AT


def _to_a_labels(domain: str) -> str:
    """Return the domain in A-labels; "" if that is impossible, which the syntax check refuses."""
    if domain.isascii() and "xn--" not in domain.lower():
        return domain.lower()
    try:
        return idna.encode(domain, uts46=True, std3_rules=True).decode("ascii")
    except UnicodeError:
        return ""


def _to_u_labels(domain: str) -> str:
    try:
        return idna.decode(domain)
    except UnicodeError:
        return domain


def _fault_of_domain(domain: str) -> Reason | None:
    if domain.startswith("[") or _NUMERIC.search(domain):
        return Reason.IP_LITERAL
    if not _DOMAIN.fullmatch(domain):
        return Reason.BAD_DOMAIN
    return None if "." in domain else Reason.NO_DOT


def _leading_name(text: str) -> tuple[str, int]:
    """Return the display name at the start of the text, and the index at which it ends."""
    words: list[str] = []
    end = 0
    while word := _NAME_WORD.match(text, end):
        quoted, plain = word.groups()
        words.append(plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted))
        end = word.end()
    while text.startswith(" ", end):
        end += 1
    return " ".join(words).strip(" "), end
