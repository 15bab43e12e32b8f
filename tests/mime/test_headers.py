"""Headers: parsers agree on the value, or the value is refused."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mailqueue.core.address import Mailbox, parse_address, parse_mailbox
from mailqueue.mime.encoded_words import encoded_words
from mailqueue.mime.headers import RESERVED, addresses, check_header, unstructured

from .strict import name_read, read

ANN = parse_address("ann@example.com")
CONTROLS = "".join(map(chr, range(32))) + "\x7f\x85\u2028\u2029"
CARRIED = st.characters(exclude_categories=["Cs"], exclude_characters=CONTROLS)
VALUES = st.one_of(
    st.text(CARRIED, max_size=300),
    st.text('ab =?_.utf-8qQbB"\\<>@,;:()', max_size=300),
    st.text("aé日🎉 ", max_size=200),
)


def subject_read(header: bytes) -> str:
    return str(read(header + b"\r\n")["Subject"])


@given(VALUES)
@example("")
@example(" ")
@example("  two spaces  ")
@example("=?utf-8?b?YQ0KQmNjOiB2aWN0aW1AZXhhbXBsZS5uZXQ=?=")
@example("=?utf-8?q?a=0D=0ABcc:_x@example.net?=")
@example("x=?utf-8?q?a?=y =?utf-8?q?b?=")
@example("x" * 3_000)
@example("x" * 989 + " y")
@example("a" + " " * 2_000 + "b")
@example("🎉" * 200)
@example("<b>markup</b> & more")
def test_a_receiver_reads_exactly_the_subject_given(value: str) -> None:
    assert subject_read(unstructured("Subject", value)) == value


@given(st.text("abc äß日🎉", max_size=300))
def test_folded_lines_stay_within_76_octets_where_there_is_room_to_fold(value: str) -> None:
    lines = unstructured("Subject", value).split(b"\r\n")

    longest_token = max((len(token) for token in value.split(" ")), default=0)
    assert max(map(len, lines)) <= 76 or longest_token > 60


@given(st.text(CARRIED, min_size=1, max_size=200), st.integers(min_value=0, max_value=90))
def test_an_encoded_word_is_short_and_holds_whole_characters(text: str, first: int) -> None:
    words = encoded_words(text, first=first)

    assert all(len(word) <= 75 for word in words)
    assert "".join(subject_read(f"Subject: {word}\r\n".encode()) for word in words) == text


def test_the_shorter_of_the_two_encodings_is_taken() -> None:
    assert encoded_words("Köln am Rhein") == ["=?utf-8?q?K=C3=B6ln_am_Rhein?="]
    assert encoded_words("日本語") == ["=?utf-8?b?5pel5pys6Kqe?="]


def test_a_plain_value_stays_as_it_is() -> None:
    assert unstructured("X-Tag", "a b <c>") == b"X-Tag: a b <c>\r\n"
    url = f"<https://mail.example.com/u/{'t' * 300}>"
    assert unstructured("List-Unsubscribe", url) == f"List-Unsubscribe: {url}\r\n".encode()


@given(VALUES)
@example("")
@example("Lee, Ann")
@example('The "hammer"')
@example("back\\slash")
@example("=?utf-8?q?x?=")
@example("x" * 1_200)
@example("a b " * 400 + "c")
@example('"' * 70)
@example('" ' * 600)
@example("🎉" * 60)
def test_a_receiver_reads_exactly_the_name_given(name: str) -> None:
    header = addresses("To", [Mailbox(name, ANN)])

    read_back = read(header + b"\r\n")["To"].addresses

    assert name_read(header, "To") == name
    assert [one.addr_spec for one in read_back] == ["ann@example.com"]
    if header.count(b"=?utf-8?") <= 1 and "  " not in name:
        assert read_back[0].display_name == name


@given(st.lists(VALUES, min_size=2, max_size=6))
def test_several_names_never_make_more_or_other_addresses(names: list[str]) -> None:
    header = addresses("To", [Mailbox(name, ANN) for name in names])

    read_back = read(header + b"\r\n")["To"].addresses

    assert [one.addr_spec for one in read_back] == ["ann@example.com"] * len(names)


def test_an_address_beyond_ascii_stands_raw_beside_an_encoded_name() -> None:
    mailbox = parse_mailbox("Δοκιμή <δοκιμή@bücher.example>")

    header = addresses("To", [mailbox])

    assert "<δοκιμή@xn--bcher-kva.example>".encode() in header
    assert b"=?utf-8?" in header


def test_fifty_addresses_fold_between_addresses() -> None:
    mailboxes = [parse_mailbox(f'"Person, No. {n}" <person{n}@example.com>') for n in range(50)]

    header = addresses("Cc", mailboxes)

    assert max(map(len, header.split(b"\r\n"))) <= 76
    assert len(read(header + b"\r\n")["Cc"].addresses) == 50


@pytest.mark.parametrize("character", CONTROLS + "\ud800", ids=ascii)
def test_a_control_character_is_refused_with_the_name_of_the_header(character: str) -> None:
    value = f"a{character}b"

    with pytest.raises(ValueError, match=r"^Subject contains the control character U\+"):
        unstructured("Subject", value)
    with pytest.raises(ValueError, match=r"^From contains the control character U\+"):
        addresses("From", [Mailbox(value, ANN)])
    with pytest.raises(ValueError, match=r"^X-Tag contains the control character U\+"):
        check_header("X-Tag", value)


@pytest.mark.parametrize(
    "name",
    ["", "X Tag", "X:Tag", "X-Tag\r\nBcc", "X-Tag\n", "X-Täg", "X\0", "X" * 77, " X", "X\x7f"],
)
def test_a_header_name_is_printable_ascii_without_colon(name: str) -> None:
    with pytest.raises(ValueError, match=r"^header name "):
        check_header(name, "value")


@pytest.mark.parametrize(
    "name",
    [*sorted(RESERVED), "BCC", "Message-ID", "Content-Type", "CONTENT-ID", "Content-Whatever"],
)
def test_a_header_we_write_cannot_be_set(name: str) -> None:
    with pytest.raises(ValueError, match=re.escape(name)):
        check_header(name, "value")


@pytest.mark.parametrize(
    "name", ["List-Unsubscribe", "List-Unsubscribe-Post", "List-Id", "X-Tag", "Auto-Submitted"]
)
def test_other_headers_may_be_set_and_may_look_like_encoded_words(name: str) -> None:
    check_header(name, "=?utf-8?b?YQ0K?= <b>markup</b>")
