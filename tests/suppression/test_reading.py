"""Lists from other programs, valid and faulty: what is read from each line."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.contract.suppression import BadLine, SuppressionReason
from mailqueue.core.address import parse_address
from mailqueue.core.errors import InvalidField
from mailqueue.suppression.lists.formula import harmless, plain
from mailqueue.suppression.lists.json_list import MAX_ELEMENT_CHARACTERS
from mailqueue.suppression.lists.reading import read_lines
from mailqueue.suppression.model import ListLine


def read(
    content: str | bytes, *, otherwise: SuppressionReason | None = None
) -> list[ListLine | BadLine]:
    octets = content if isinstance(content, bytes) else content.encode()
    return list(read_lines(io.BytesIO(octets), otherwise=otherwise))


def addresses(content: str | bytes) -> list[str]:
    return [
        f"{one.line}!" if isinstance(one, BadLine) else one.entry.address.sent
        for one in read(content)
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("email\nann@example.com\nbob@example.com\n", ["ann@example.com", "bob@example.com"]),
        ("ann@example.com\nbob@example.com", ["ann@example.com", "bob@example.com"]),
        ("\ufeffEmail Address,Created\r\nann@example.com,2026\r\n", ["ann@example.com"]),
        ("\n\n  email\n\nann@example.com\n\nno\n", ["ann@example.com", "7!"]),
        ("id,recipient\n7,ann@example.com\n", ["ann@example.com"]),
        ("email,reason\nann@example.com\nbob@example.com,manual\n", ["2!", "bob@example.com"]),
        ('email,detail\nann@example.com,"two\nlines"\nno,x\n', ["ann@example.com", "4!"]),
        ('email\n"ann@example.com\n', ["2!"]),
        ("email\nno address\nbob@example.com\n", ["2!", "bob@example.com"]),
        ('["ann@example.com", "bob@example.com"]', ["ann@example.com", "bob@example.com"]),
        ('[{"email": "ann@example.com"}, 7, {"email": 8}]', ["ann@example.com", "2!", "3!"]),
        (
            '{"email": "a@example.com"}\n{"address": "b@example.com"}\n',
            ["a@example.com", "b@example.com"],
        ),
        ("[]", []),
        (" [ ] \n", []),
        ("", []),
        ("email\n", []),
    ],
)
def test_every_shape_of_list_is_read(content: str, expected: list[str]) -> None:
    assert addresses(content) == expected


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("name,phone\nann,1\n", "no column email; it has name, phone"),
        ("email,email\na@example.com,b@example.com\n", "column email twice"),
        ("ann@example.com,hard_bounce\n", "no column email"),
        ("\x00\x01\x02", "no column email"),
        ("email\n".encode("utf-16"), "no column email"),
        ('["ann@example.com" "bob@example.com"]', "no comma after element 1"),
        ('["ann@example.com"', "no end after element 1"),
        ('["ann@example.com"] x', "there is text after the array"),
        ('["ann@example.com", {]', "element 2 is not valid JSON"),
        ("[" * 100_000, "element 1 is not valid JSON"),
        ('{"email": "ann@example.com"} nonsense', "element 2 is not valid JSON"),
        ('["' + "x" * (2 * MAX_ELEMENT_CHARACTERS) + '"]', "element 1 is"),
    ],
)
def test_what_is_no_list_is_refused_with_the_place(content: str | bytes, why: str) -> None:
    with pytest.raises(InvalidField, match=why) as refused:
        read(content)

    assert refused.value.field == "file"


def test_an_octet_that_is_no_utf8_spoils_its_line_only() -> None:
    content = "email,detail\nann@example.com,M\xfcller\nb\xf6b@example.com,\nbob@example.com,x\n"

    first, second, third = read(content.encode("latin-1"))

    assert first == BadLine(2, "is not UTF-8", "detail")
    assert isinstance(second, BadLine)
    assert isinstance(third, ListLine)


def test_all_columns_are_taken_and_others_passed_over() -> None:
    (line,) = read(
        "reason,email,status,category,expires_at,detail\n"
        "unsubscribe,ann@example.com,5.1.1,marketing,2030-01-31T08:00:00+01:00, he  asked \n"
    )

    assert isinstance(line, ListLine)
    wanted = line.entry
    assert (wanted.reason, wanted.category, wanted.detail) == (
        SuppressionReason.UNSUBSCRIBED,
        "marketing",
        "he asked",
    )
    assert wanted.expires_at is not None
    assert wanted.expires_at.isoformat() == "2030-01-31T07:00:00+00:00"


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({"reason": "because"}, "reason"),
        ({"reason": 7}, "reason"),
        ({"category": "Not One"}, "category"),
        ({"expires_at": "soon"}, "expires_at"),
        ({"expires_at": "0001-01-01T00:00:00+14:00"}, "expires_at"),
        ({"detail": "bell \x07"}, "detail"),
        ({"email": "ann@"}, "email"),
    ],
)
def test_a_faulty_value_is_told_by_its_name(record: dict[str, Any], field: str) -> None:
    (bad,) = read(json.dumps([{"email": "ann@example.com"} | record]))

    assert isinstance(bad, BadLine)
    assert bad.column == field
    assert bad.text == f"{field}: {bad.reason}"


def test_a_reason_of_ones_own_keeps_that_of_the_list_as_detail() -> None:
    (line,) = read(
        "reason,email\n550 5.1.1 no such user,ann@example.com\n",
        otherwise=SuppressionReason.HARD_BOUNCE,
    )

    assert isinstance(line, ListLine)
    assert (line.entry.reason, line.entry.detail) == (
        SuppressionReason.HARD_BOUNCE,
        "550 5.1.1 no such user",
    )


@given(st.text())
def test_a_cell_made_harmless_comes_back_as_it_was(cell: str) -> None:
    assert plain(harmless(cell)) == cell
    assert not harmless(cell).startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


@given(st.lists(st.one_of(st.text(max_size=20), st.dictionaries(st.text(), st.text()))))
def test_a_json_list_has_as_many_lines_as_elements(elements: list[Any]) -> None:
    found = read(json.dumps(elements))

    assert [one.line if isinstance(one, BadLine) else one.number for one in found] == list(
        range(1, len(elements) + 1)
    )


def test_a_long_array_is_read_across_the_pieces_it_comes_in() -> None:
    wanted = [f"person{n}@example.com" for n in range(20_000)]

    assert addresses(json.dumps(wanted)) == wanted


def test_a_domain_beyond_ascii_has_two_spellings() -> None:
    assert parse_address("Ann@BÜCHER.example").spellings == (
        "ann@xn--bcher-kva.example",
        "ann@bücher.example",
    )
    assert parse_address("Ann@Example.COM").spellings == ("ann@example.com",)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("email" + ",x" * 530_000, "line 1 has more than 1,048,576 characters"),
        ("email,a\nann@example.com," + "x" * 1_100_000, "line 2 has more than 1,048,576"),
        (
            "email,a\n\nann@example.com" + ',"\n"' * 300_000 + "\n",
            " has more than 1,048,576 characters",
        ),
        ("email" + "".join(f",c{n}" for n in range(1_000)), "the header has more than 1,000"),
    ],
)
def test_a_line_that_is_no_line_of_a_list_ends_the_reading(content: str, why: str) -> None:
    with pytest.raises(InvalidField, match=why):
        read(content)


def test_lines_of_many_megabytes_together_are_read() -> None:
    line = "ann@example.com," + "x" * 100_000 + "\n"

    assert len(read("email,detail\n" + line * 30)) == 30
