"""No content can end a command or the message early."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.core.verdict import AllRefused, Fault, Rejected, Stage
from mailqueue.smtp.client.envelope import EncodedEmail, Extensions, encode
from tests.smtp.client.sending import BODY, mail

ALL = Extensions(pipelining=True, size=True, max_bytes=1000, eight_bit=True, smtputf8=True)
NOTHING = Extensions()
UNSAFE = [
    "",
    "ann",
    "@example.com",
    "ann@",
    "ann@example.com\r\nRCPT TO:<eve@example.net>",
    "ann@example.com\n",
    "ann@example.com\r",
    "ann\0@example.com",
    "a nn@example.com",
    '"a nn"@example.com',
    "ann@example.com> SIZE=1",
    "<ann@example.com",
    "ann@example.com\x7f",
    "ann@example.com\x0b",
    "ann@example.com\x85",
    "ann@example.com\u2028",
    "ann@example.com\u202e",
    "ann@example.com\udc80",
    "ann@exa\\mple.com",
    '"ann@example.com"',
    "@relay.example,@b.example:ann@example.com",
    "x" * 250 + "@example.com",
    "\u00e9" * 125 + "@example.com",
]


@pytest.mark.parametrize("address", UNSAFE)
def test_a_recipient_that_could_carry_a_command_is_refused_here(address: str) -> None:
    found = encode(mail(address, needs_smtputf8=True), ALL)

    assert isinstance(found, Rejected)
    assert (found.kind, found.stage, found.hard) == (Fault.PERMANENT_RECIPIENT, Stage.RCPT, False)


@pytest.mark.parametrize("address", [a for a in UNSAFE if a])
def test_a_sender_that_could_carry_a_command_is_refused_here(address: str) -> None:
    found = encode(mail(sender=address, needs_smtputf8=True), ALL)

    assert isinstance(found, Rejected)
    assert (found.kind, found.stage) == (Fault.PERMANENT_MESSAGE, Stage.MAIL)


@given(st.text(), st.text())
def test_no_address_makes_more_than_its_own_command(sender: str, recipient: str) -> None:
    found = encode(mail(recipient, sender=sender, needs_smtputf8=True), ALL)

    if isinstance(found, EncodedEmail):
        for command in found.commands:
            assert command.endswith(b"\r\n")
            assert not set(command[:-2]) & set(b"\r\n\0")
        assert found.commands[1] == f"RCPT TO:<{recipient}>\r\n".encode()


def test_the_empty_sender_is_the_null_path() -> None:
    found = encode(mail(sender=""), NOTHING)

    assert isinstance(found, EncodedEmail)
    assert found.commands[0] == b"MAIL FROM:<>\r\n"


@pytest.mark.parametrize(
    "body",
    [
        b"a\n.\nb\r\n",
        b"a\r.\rb\r\n",
        b"a\n.\r\nb",
        b"a\r\n.\nb",
        b"a\r.\r\nb",
        b"a\0b\r\n",
        b"a\r",
        b"\n",
    ],
)
def test_a_message_some_server_could_read_as_two_is_refused_here(body: bytes) -> None:
    found = encode(mail(body=body), NOTHING)

    assert isinstance(found, Rejected)
    assert found.kind is Fault.PERMANENT_MESSAGE


@given(st.lists(st.sampled_from([b"\r\n", b".", b"a", b"..", b"\r\n.\r\n", b"\xff"])).map(b"".join))
def test_stuffed_text_never_ends_early_and_is_read_back_whole(body: bytes) -> None:
    found = encode(mail(body=body), Extensions(eight_bit=True))
    if isinstance(found, Rejected):  # raw octets before the first empty line
        assert not body.isascii()
        return
    assert isinstance(found, EncodedEmail)
    lines = found.body.split(b"\r\n")

    assert b"." not in lines
    back = b"\r\n".join(line.removeprefix(b".") for line in lines)
    assert back == (body if body.endswith(b"\r\n") else body + b"\r\n")


def test_a_body_without_dots_at_line_starts_is_not_copied() -> None:
    body = b"Subject: a.b\r\n\r\nsee www.example.com.\r\n"

    found = encode(mail(body=body), NOTHING)

    assert isinstance(found, EncodedEmail)
    assert found.body is body


def test_what_the_server_offers_is_used() -> None:
    raw = b"Subject: x\r\n\r\nh\xc3\xa9\r\n"
    utf8 = mail("j\u00f6rg@example.com", body=raw, needs_smtputf8=True)

    found = encode(utf8, ALL)

    assert isinstance(found, EncodedEmail)
    parameters = b" SIZE=%d BODY=8BITMIME SMTPUTF8\r\n" % len(raw)
    assert found.commands[0] == b"MAIL FROM:<bounce@example.org>" + parameters
    assert found.commands[1] == "RCPT TO:<j\u00f6rg@example.com>\r\n".encode()


@pytest.mark.parametrize(
    ("body", "offered", "enhanced"),
    [
        (b"x" * 1001, ALL, "5.3.4"),
        (b"Subject: x\r\n\r\nh\xc3\xa9\r\n", NOTHING, "5.6.3"),
        (b"Subject: h\xc3\xa9\r\n\r\nx\r\n", Extensions(eight_bit=True), "5.6.7"),
    ],
)
def test_what_the_server_cannot_take_is_refused_here(
    body: bytes, offered: Extensions, enhanced: str
) -> None:
    found = encode(mail(body=body, needs_smtputf8=True), offered)

    assert isinstance(found, Rejected)
    assert (found.kind, found.enhanced) == (Fault.PERMANENT_MESSAGE, enhanced)


def test_a_size_limit_of_zero_is_no_limit() -> None:
    found = encode(mail(body=b"x" * 10_000), Extensions(size=True, max_bytes=0))

    assert isinstance(found, EncodedEmail)
    assert found.commands[0].endswith(b" SIZE=10000\r\n")


def test_without_smtputf8_only_the_recipients_that_need_it_fail() -> None:
    two = mail("ann@example.com", "j\u00f6rg@example.com", needs_smtputf8=True)

    found = encode(two, Extensions(eight_bit=True))

    assert isinstance(found, EncodedEmail)
    assert found.recipients == ("ann@example.com",)
    (refused,) = found.refused
    assert (refused.why.kind, refused.why.enhanced) == (Fault.PERMANENT_MESSAGE, "5.6.7")
    assert not refused.why.hard
    assert b"SMTPUTF8" not in found.commands[0]


def test_when_no_recipient_is_left_each_has_a_reason() -> None:
    found = encode(mail("bad", "j\u00f6rg@example.com"), NOTHING)

    assert isinstance(found, AllRefused)
    assert [refused.why.enhanced for refused in found.refused] == ["5.1.3", "5.6.7"]


def test_a_message_without_recipients_is_refused() -> None:
    message = mail()
    nobody = type(message)(message.email_id, type(message.envelope)("a@example.org", ()), BODY)

    assert isinstance(encode(nobody, NOTHING), Rejected)
