"""Encodes text as RFC 2047 encoded words. Pure."""

from base64 import b64encode

MAX_WORD_BYTES = 75  # RFC 2047 2
_FRAME_OCTETS = len("=?utf-8?q??=")
_LONGEST_CHARACTER = 12  # four bytes in Q encoding

# RFC 2047 5 (3): characters that need no encoding even in a display name.
_ITSELF = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-/"
_Q_BY_OCTET = tuple(
    "_" if octet == 0x20 else chr(octet) if octet in _ITSELF else f"={octet:02X}"
    for octet in range(256)
)


def encoded_words(text: str, *, first: int = MAX_WORD_BYTES) -> list[str]:
    """Return text as UTF-8 encoded words, Q or B, whichever is shorter; no word splits a character.

    `first` is the space for the first word in bytes; if no character fits, the word is made for a
    line of its own.
    """
    if first < _FRAME_OCTETS + _LONGEST_CHARACTER:
        first = MAX_WORD_BYTES
    first = min(first, MAX_WORD_BYTES)
    octets = text.encode()
    in_q = "".join([_Q_BY_OCTET[octet] for octet in octets])
    in_b_octets = (len(octets) + 2) // 3 * 4
    if len(in_q) <= in_b_octets:
        if len(in_q) + _FRAME_OCTETS <= first:
            return [f"=?utf-8?q?{in_q}?="]
        return _in_q(text, first)
    if in_b_octets + _FRAME_OCTETS <= first:
        return [_b_word(octets)]
    return _in_b(octets, first)


def _in_q(text: str, first: int) -> list[str]:
    words: list[str] = []
    word = ""
    room = first - _FRAME_OCTETS
    for character in text:
        piece = "".join([_Q_BY_OCTET[octet] for octet in character.encode()])
        if len(word) + len(piece) > room:
            words.append(f"=?utf-8?q?{word}?=")
            word = ""
            room = MAX_WORD_BYTES - _FRAME_OCTETS
        word += piece
    return [*words, f"=?utf-8?q?{word}?="]


def _in_b(octets: bytes, first: int) -> list[str]:
    words: list[str] = []
    start = 0
    room = (first - _FRAME_OCTETS) // 4 * 3
    while start < len(octets):
        end = min(start + room, len(octets))
        while end < len(octets) and octets[end] & 0xC0 == 0x80:  # inside a character
            end -= 1
        words.append(_b_word(octets[start:end]))
        start = end
        room = (MAX_WORD_BYTES - _FRAME_OCTETS) // 4 * 3
    return words


def _b_word(octets: bytes) -> str:
    return f"=?utf-8?b?{b64encode(octets).decode()}?="
