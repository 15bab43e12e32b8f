"""Decodes untrusted bytes and encoded words to text. Pure; never raises."""

import binascii
import codecs
import re

_CHARSET = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,39}")
# Not charsets; two of these codecs take time quadratic in the input.
_REFUSED_CODECS = frozenset(
    {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}
)
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_NOT_BASE64 = bytes(octet for octet in range(256) if octet not in _BASE64)
# RFC 2047 2, with the language of RFC 2231 5, and leniently with spaces inside.
_WORD = re.compile(r"=\?([A-Za-z0-9_.:+-]{1,40})(?:\*[A-Za-z0-9-]{0,40})?\?([bBqQ])\?([^?]*)\?=")
_BETWEEN_WORDS = re.compile(r"[ \t\r\n]+")
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f\x85\u2028-\u202e\u2066-\u2069]")


def octets_to_text(octets: bytes, charset: str = "utf-8") -> str:
    """Decode bytes; unknown charsets are decoded as UTF-8, and invalid bytes become U+FFFD."""
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
    except (LookupError, ValueError):  # a codec that is not a charset, or without "replace"
        return octets.decode("utf-8", "replace")


def base64_to_octets(octets: bytes) -> bytes:
    """Decode base64, skipping bytes that are not base64."""
    letters = octets.translate(None, _NOT_BASE64)
    usable = len(letters) - (len(letters) % 4 == 1)
    return binascii.a2b_base64(letters[:usable] + b"=" * (-usable % 4))


def words_to_text(value: str) -> str:
    """Return a header value with encoded words decoded, on one line, without control characters.

    White space between encoded words is dropped; a character split between two words of one charset
    is joined.
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
