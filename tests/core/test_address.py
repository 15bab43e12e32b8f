"""Addresses: one table of cases for Python's parser and SQL's check."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.core.address import (
    MAX_ADDRESS_BYTES,
    MAX_LOCAL_BYTES,
    InvalidAddress,
    Mailbox,
    Reason,
    parse_address,
    parse_mailbox,
)

TABLE = Path(__file__).parents[1] / "payloads" / "addresses.json"
CASES: list[dict[str, Any]] = json.loads(TABLE.read_text())
ACCEPTED = [case for case in CASES if case["ok"]]
REFUSED = [case for case in CASES if not case["ok"]]

SEPARATORS = ["\r\n", "\n", "\r", "\r\n ", *"\0\v\f\x1c\x1d\x85\u2028\u2029"]


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: ascii(case["input"])[:60])
def test_an_address_of_the_table_is_accepted_under_its_key(case: dict[str, Any]) -> None:
    assert parse_address(case["input"]).key == case["key"]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: ascii(case["input"])[:60])
def test_a_text_of_the_table_is_refused_for_its_reason(case: dict[str, Any]) -> None:
    with pytest.raises(InvalidAddress) as caught:
        parse_address(case["input"])

    assert caught.value.reason == case["reason"]


def test_the_table_names_every_reason_and_no_input_twice() -> None:
    assert {case["reason"] for case in REFUSED} == set(Reason) - {Reason.BAD_NAME}
    assert len({case["input"] for case in CASES}) == len(CASES) >= 60


def test_the_local_part_is_sent_as_given_and_matched_in_lower_case() -> None:
    address = parse_address(" Ann.Lee@EXÄMPLE.com ")

    assert address.sent == "Ann.Lee@xn--exmple-cua.com"
    assert address.key == "ann.lee@xn--exmple-cua.com"
    assert not address.needs_smtputf8


def test_a_local_part_beyond_ascii_needs_smtputf8_and_is_composed() -> None:
    address = parse_address("Jo\u0308rg@bücher.example")

    assert address.sent == "J\u00f6rg@xn--bcher-kva.example"
    assert address.needs_smtputf8


def test_a_lone_surrogate_is_refused_like_a_control_character() -> None:
    with pytest.raises(InvalidAddress) as caught:
        parse_address("ann\ud800@example.com")

    assert caught.value.reason is Reason.CONTROL_CHARACTER


def test_the_error_is_a_short_printable_sentence_with_the_value() -> None:
    with pytest.raises(ValueError, match=r"^'ann' has no @$"):
        parse_address("ann")
    with pytest.raises(InvalidAddress) as caught:
        parse_address("\x1b[2J" + "x" * 100_000)

    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 250


@given(st.text(max_size=80))
def test_any_text_is_an_address_or_refused_with_a_reason(text: str) -> None:
    try:
        address = parse_address(text)
    except InvalidAddress:
        return
    assert parse_address(address.sent) == address
    assert len(address.sent.encode()) <= MAX_ADDRESS_BYTES


@given(
    st.from_regex(
        r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.\u00e0-\u00ff\u4e00-\u4eff-]{1,70}", fullmatch=True
    )
)
def test_what_is_accepted_keeps_the_limits_and_survives_a_second_reading(local: str) -> None:
    try:
        address = parse_address(f"{local}@bücher.example")
    except InvalidAddress:
        dots_misplaced = "" in local.split(".")
        assert dots_misplaced or len(local.encode()) > MAX_LOCAL_BYTES
        return
    assert len(address.local.encode()) <= MAX_LOCAL_BYTES
    assert parse_address(address.sent) == address
    assert parse_address(address.key).key == address.key


MAILBOXES = [
    ("ann@example.com", "", "ann@example.com"),
    ("<ann@example.com>", "", "ann@example.com"),
    ("Ann <ann@example.com>", "Ann", "ann@example.com"),
    ("  Ann   Lee  <ann@example.com> ", "Ann Lee", "ann@example.com"),
    ("Ann<ann@example.com>", "Ann", "ann@example.com"),
    ("Ann < ann@example.com >", "Ann", "ann@example.com"),
    ("John Q. Public <j@example.com>", "John Q. Public", "j@example.com"),
    ('"Lee, Ann" <ann@example.com>', "Lee, Ann", "ann@example.com"),
    (
        r'"Ann \"the hammer\" \\ Lee" <ann@example.com>',
        r'Ann "the hammer" \ Lee',
        "ann@example.com",
    ),
    ('"<evil@example.net>" <ann@example.com>', "<evil@example.net>", "ann@example.com"),
    ('"" <ann@example.com>', "", "ann@example.com"),
    ('"Ann" Lee <ann@example.com>', "Ann Lee", "ann@example.com"),
    ("Zoë Ångström <zoe@example.com>", "Zoë Ångström", "zoe@example.com"),
    ("👩‍👩‍👧 Team <team@example.com>", "👩‍👩‍👧 Team", "team@example.com"),
    ("=?utf-8?q?Ann?= <ann@example.com>", "=?utf-8?q?Ann?=", "ann@example.com"),
    ("<b>Ann", None, Reason.NO_AT),
    ("'Ann' [EU] <ann@bücher.example>", "'Ann' [EU]", "ann@xn--bcher-kva.example"),
    ("a@b>evil@c.example", None, Reason.BAD_LOCAL),
    ("<a@b>evil@c.example>", None, Reason.BAD_LOCAL),
    ("Ann <a@b>evil@c.example>", None, Reason.BAD_LOCAL),
    ("Ann <<ann@example.com>>", None, Reason.BAD_LOCAL),
    ("ann@example.com <bob@example.com>", None, Reason.BAD_NAME),
    ("Lee, Ann <ann@example.com>", None, Reason.BAD_NAME),
    ("ann@example.com, bob@example.com", None, Reason.WHITESPACE),
    ("Ann <ann@example.com>, Bob <bob@example.com>", None, Reason.WHITESPACE),
    ("Ann <ann@example.com>,<bob@example.com>", None, Reason.BAD_LOCAL),
    ("Ann (work) <ann@example.com>", None, Reason.BAD_NAME),
    ("ann@example.com (Ann)", None, Reason.WHITESPACE),
    ("Team: ann@example.com;", None, Reason.WHITESPACE),
    ("Team: Ann <ann@example.com>", None, Reason.BAD_NAME),
    ('"Ann <ann@example.com>', None, Reason.BAD_NAME),
    ("Ann ann@example.com>", None, Reason.BAD_NAME),
    ("Ann <ann@example.com> x", None, Reason.WHITESPACE),
    ("Ann <>", None, Reason.EMPTY),
    ("Ann <@example.net:ann@example.com>", None, Reason.BAD_LOCAL),
    ("", None, Reason.EMPTY),
    ("x" * 2_000 + " <ann@example.com>", None, Reason.TOO_LONG),
    ("(" * 900 + " <ann@example.com>", None, Reason.BAD_NAME),
    ("Ann \u202eeel <ann@example.com>", None, Reason.CONTROL_CHARACTER),
    ("Ann\tLee <ann@example.com>", None, Reason.CONTROL_CHARACTER),
]


@pytest.mark.parametrize(("text", "name", "result"), MAILBOXES)
def test_a_mailbox_is_one_name_and_one_address_or_refused(
    text: str, name: str | None, result: str
) -> None:
    if name is None:
        with pytest.raises(InvalidAddress) as caught:
            parse_mailbox(text)
        assert caught.value.reason == result
    else:
        assert parse_mailbox(text) == Mailbox(name, parse_address(result))


@pytest.mark.parametrize("separator", SEPARATORS, ids=ascii)
@pytest.mark.parametrize(
    "frame",
    ["Ann{}Bcc: x <ann@example.com>", '"Ann{}Bcc: x" <ann@example.com>', "Ann <ann{}@example.com>"],
)
def test_no_separator_passes_in_a_mailbox(frame: str, separator: str) -> None:
    with pytest.raises(InvalidAddress) as caught:
        parse_mailbox(frame.format(separator))

    assert caught.value.reason is Reason.CONTROL_CHARACTER


@given(st.text(max_size=60))
def test_any_name_in_quotes_comes_back_or_is_refused(name: str) -> None:
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    try:
        mailbox = parse_mailbox(f'"{quoted}" <ann@example.com>')
    except InvalidAddress:
        assert not name.isprintable()
        return
    assert mailbox.name == name.strip(" ")


@given(
    st.one_of(
        st.text(alphabet="aZ0.-_+@x! \u00e9", max_size=70),
        st.from_regex(
            r"[a-z0-9._+-]{1,66}@(?:[a-z0-9-]{1,12}\.){0,4}[a-zA-Z0-9-]{1,8}", fullmatch=True
        ),
    )
)
def test_usual_addresses_are_read_as_all_others_are(text: str) -> None:
    """A leading space, which is ignored, makes the parser take the general path."""
    assert _reading(text) == _reading(f" {text}")


def _reading(text: str) -> object:
    try:
        return parse_address(text)
    except InvalidAddress as refused:
        return refused.reason
