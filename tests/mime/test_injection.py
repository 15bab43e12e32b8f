"""No separator in any field creates a further header, recipient or body."""

from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

import pytest

from mailqueue.core.address import Mailbox, parse_mailbox
from mailqueue.mime.compose import PerMail, compose, message_id
from mailqueue.mime.skeleton import MessageContent, compile_skeleton

from .strict import body_of, header_names, name_read, read

ANN = parse_mailbox("Ann <ann@example.com>")
EMAIL_ID = UUID(int=1)
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HIDDEN = b64encode(b"a\r\nBcc: victim@example.net\r\n\r\n<h1>forged</h1>").decode()

SEPARATORS = ["\r\n", "\n", "\r", "\r\n ", *"\0\v\f\x1c\x1d\x85\u2028\u2029"]
VALUES = {
    **{ascii(separator): f"a{separator}Bcc: victim@example.net" for separator in SEPARATORS},
    "percent": "a%0d%0aBcc: victim@example.net",
    "word in b": f"=?utf-8?b?{HIDDEN}?=",
    "word in q": "=?utf-8?q?a=0D=0ABcc:_victim@example.net=0D=0A=0D=0A<h1>forged</h1>?=",
    "word within": "x =?us-ascii?Q?=0ABcc:_victim@example.net?= y",
}
PLAIN = [
    *("From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type"),
    "Content-Transfer-Encoding",
]


def message(
    *,
    subject: str = "s",
    name: str = "Ann",
    reply_to: str | None = None,
    message_id: str = message_id(EMAIL_ID, "example.com"),
    shared: tuple[tuple[str, str], ...] = (),
    own: tuple[tuple[str, str], ...] = (),
    text: str = "t",
) -> bytes:
    skeleton = compile_skeleton(MessageContent(subject, None, text, headers=shared))
    return compose(
        skeleton,
        PerMail(
            sender=Mailbox(name, ANN.address),
            to=(Mailbox(name, ANN.address),),
            reply_to=() if reply_to is None else (Mailbox(reply_to, ANN.address),),
            written_at=AT,
            message_id=message_id,
            headers=own,
        ),
    )


FIELDS: dict[str, Callable[[str], bytes]] = {
    "Subject": lambda value: message(subject=value),
    "From and To name": lambda value: message(name=value),
    "Reply-To name": lambda value: message(reply_to=value),
    "shared header": lambda value: message(shared=(("X-Tag", value),)),
    "own header": lambda value: message(own=(("X-Tag", value),)),
    "List-Unsubscribe": lambda value: message(own=(("List-Unsubscribe", value),)),
    "header name": lambda value: message(own=((value, "x"),)),
    "Content-ID": lambda value: message(own=(("Content-ID", value),)),
    "Message-ID": lambda value: message(message_id=value),
    "Message-ID inside": lambda value: message(message_id=f"<{value}@example.com>"),
}
ADDED = {"Reply-To", "X-Tag", "List-Unsubscribe"}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("field", FIELDS)
def test_a_hostile_value_is_refused_or_arrives_as_literal_text(field: str, value: str) -> None:
    try:
        octets = FIELDS[field](value)
    except ValueError as refused:
        assert str(refused).isprintable()  # noqa: PT017
        return

    names = header_names(octets)
    parsed = read(octets)
    expected_extra = {*ADDED, value} if field == "header name" else ADDED
    assert [name for name in names if name not in expected_extra] == PLAIN
    assert parsed.keys() == names
    assert body_of(parsed, "plain") == "t\r\n"
    assert len(parsed["To"].addresses) == len(parsed["From"].addresses) == 1
    assert value in read_back(octets, field)


def read_back(octets: bytes, field: str) -> set[str]:
    """Return what a parser reads in place of the value."""
    parsed = read(octets)
    match field:
        case "From and To name":
            return {name_read(octets, "From")} & {name_read(octets, "To")}
        case "Reply-To name":
            return {name_read(octets, "Reply-To")}
        case "header name":
            return set(parsed.keys())
        case "Message-ID inside":
            return {str(parsed["Message-ID"]).removeprefix("<").removesuffix("@example.com>")}
        case _:
            name = {"shared header": "X-Tag", "own header": "X-Tag"}.get(field, field)
            return {str(parsed[name])}


@pytest.mark.parametrize("separator", SEPARATORS, ids=ascii)
@pytest.mark.parametrize("field", FIELDS)
def test_a_separator_is_refused_in_every_field(field: str, separator: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        FIELDS[field](f"a{separator}b")


@pytest.mark.parametrize("separator", SEPARATORS[1:], ids=ascii)
def test_a_separator_in_a_body_stays_in_the_body(separator: str) -> None:
    text = f"a{separator}.{separator}Bcc: victim@example.net{separator}{separator}.\r\n"
    if "\0" in text:
        with pytest.raises(ValueError, match="NUL"):
            message(text=text)
        return

    octets = message(text=text)

    assert header_names(octets) == PLAIN
    arrived = body_of(read(octets), "plain")
    assert arrived == text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")


def test_the_message_id_of_an_email_is_no_way_in() -> None:
    with pytest.raises(ValueError, match="A-label"):
        message_id(EMAIL_ID, "example.com\r\nBcc: victim@example.net")
