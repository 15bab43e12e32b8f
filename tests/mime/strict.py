"""Parses composed messages with the standard library and checks their bytes."""

import re
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import EmailMessage

HEADER_LINE = re.compile(rb"[!-9;-~]+:|[ \t]+[^ \t\r\n]")


def read(message: bytes) -> EmailMessage:
    """Parse as a receiver would; the bytes must satisfy the rules of SMTP."""
    check_octets(message)
    parsed = message_from_bytes(message, policy=policy.default)
    assert isinstance(parsed, EmailMessage)
    assert not parsed.defects
    return parsed


def check_octets(message: bytes) -> None:
    """Check line ends, line lengths and the form of each header line."""
    assert message.endswith(b"\r\n")
    bare = message.replace(b"\r\n", b"")
    assert b"\r" not in bare
    assert b"\n" not in bare
    assert not set(bare) & ({*range(32), 127} - {9})
    assert max(map(len, message.split(b"\r\n"))) <= 998
    head = message.partition(b"\r\n\r\n")[0]
    for line in head.split(b"\r\n"):
        assert HEADER_LINE.match(line), line
        for word in re.findall(rb"=\?[^?]+\?[bq]\?[^?]*\?=", line):
            assert len(word) <= 75


def header_names(message: bytes) -> list[str]:
    """Return the names of the message's headers as in its bytes."""
    head = message.partition(b"\r\n\r\n")[0]
    lines = head.split(b"\r\n")
    return [line.partition(b":")[0].decode() for line in lines if not line.startswith(b" ")]


def body_of(message: EmailMessage, subtype: str) -> str:
    """Return the decoded text of the part of a subtype, with line ends as sent."""
    part = message.get_body((subtype,))
    assert part is not None
    payload = part.get_payload(decode=True)
    assert isinstance(payload, bytes)
    return payload.decode("utf-8")


def name_read(message: bytes, header: str) -> str:
    """Return the display name of a header that contains one mailbox.

    By the older reader: the newer one, in Python 3.11, keeps the blank between two encoded words.
    """
    value = str(message_from_bytes(message, policy=policy.compat32)[header]).replace("\r\n", "")
    phrase, _, address = value.lstrip(" ").rpartition("<")
    assert "@" in address
    phrase = phrase.removesuffix(" ")
    if phrase.startswith('"'):
        return re.sub(r"\\(.)", r"\1", phrase[1:-1])
    return str(make_header(decode_header(phrase)))
