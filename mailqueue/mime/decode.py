"""Decides how foreign octets and encoded words are read as text. Pure; never raises."""

import binascii
import codecs
import re

_CHARSET = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,39}")
# These are no charsets, and two of them take time that grows with the square of the input.
_REFUSED_CODECS = frozenset(
    {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}
)
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_NOT_BASE64 = bytes(octet for octet in range(256) if octet not in _BASE64)
# RFC 2047 2, with the language of RFC 2231 5 and, leniently, spaces inside.
_WORD = re.compile(r"=\?([A-Za-z0-9_.:+-]{1,40})(?:\*[A-Za-z0-9-]{0,40})?\?([bBqQ])\?([^?]*)\?=")
_BETWEEN_WORDS = re.compile(r"[ \t\r\n]+")
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f\x85\u2028-\u202e\u2066-\u2069]")


def octets_to_text(octets: bytes, charset: str = "utf-8") -> str:
    """Read octets; an unknown charset is read as UTF-8, what is not valid becomes U+FFFD."""
    name = "utf-8"
    if _CHARSET.fullmatch(charset):
        try:
            found = codecs.lookup(charset)
        except (LookupError, ValueError):
            found = codecs.lookup("utf-8")
        if found.name not in _REFUSED_CODECS:
            name = found.name
    try:
        return octets.decode(name, "replace")
    except (LookupError, ValueError):  # a codec that is no charset, or one without "replace"
        return octets.decode("utf-8", "replace")


def base64_to_octets(octets: bytes) -> bytes:
    """Decode base64 as far as it goes, past whatever is not base64."""
    letters = octets.translate(None, _NOT_BASE64)
    usable = len(letters) - (len(letters) % 4 == 1)
    return binascii.a2b_base64(letters[:usable] + b"=" * (-usable % 4))


def words_to_text(value: str) -> str:
    """Replace encoded words by what they say, on one line and without control characters.

    White space between two words is theirs, not the text's; a character that somebody split
    between two words of one charset is put together again.
    """
    pieces: list[str] = []
    run: list[bytes] = []
    run_charset = ""
    end = 0
    for word in _WORD.finditer(value):
        between = value[end : word.start()]
        charset = word[1].lower()
        if run_charset and (charset != run_charset or not _BETWEEN_WORDS.fullmatch(between)):
            pieces.append(octets_to_text(b"".join(run), run_charset))
            run.clear()
        if not (run_charset and _BETWEEN_WORDS.fullmatch(between)):
            pieces.append(between)
        run.append(_word_octets(word[2], word[3]))
        run_charset = charset
        end = word.end()
    if run_charset:
        pieces.append(octets_to_text(b"".join(run), run_charset))
    pieces.append(value[end:])
    return _CONTROL.sub("\ufffd", "".join(pieces))


def _word_octets(encoding: str, payload: str) -> bytes:
    octets = payload.encode("utf-8", "replace")
    if encoding in "bB":
        return base64_to_octets(octets)
    return binascii.a2b_qp(octets, header=True)
