"""The encoding in which a list is read, for files of spreadsheet programs."""

import io

import pytest

from mailqueue.contract.suppression import BadLine, ListEncoding
from mailqueue.core.errors import InvalidField
from mailqueue.suppression.lists.encoding import encoding_of
from mailqueue.suppression.lists.reading import read_lines

LIST = "email,detail\nann@example.com,Müller\nbob@bücher.example,\n"
ASCII = "email\nann@example.com\n"


def read(octets: bytes) -> tuple[ListEncoding, list[tuple[str, str | None] | int]]:
    file = io.BytesIO(octets)
    encoding = encoding_of(file)
    assert file.tell() == 0
    return encoding, [
        one.line if isinstance(one, BadLine) else (one.entry.address.sent, one.entry.detail)
        for one in read_lines(file, encoding)
    ]


@pytest.mark.parametrize(
    ("codec", "encoding"),
    [
        ("utf-8", ListEncoding.UTF_8),
        ("utf-8-sig", ListEncoding.UTF_8),
        ("utf-16", ListEncoding.UTF_16),
        ("utf-32", ListEncoding.UTF_32),
        ("cp1252", ListEncoding.WINDOWS_1252),
        ("latin-1", ListEncoding.WINDOWS_1252),
    ],
)
def test_a_list_is_read_as_its_spreadsheet_wrote_it(codec: str, encoding: ListEncoding) -> None:
    expected = [("ann@example.com", "Müller"), ("bob@xn--bcher-kva.example", None)]

    assert read(LIST.encode(codec)) == (encoding, expected)
    assert read(LIST.replace("\n", "\r\n").replace(",", "\t").encode(codec)) == (encoding, expected)
    assert read(LIST.replace(",", ";").encode(codec)) == (encoding, expected)


def test_the_byte_order_of_a_mark_counts() -> None:
    for order, mark in (("le", b"\xff\xfe"), ("be", b"\xfe\xff")):
        found = read(mark + ASCII.encode(f"utf-16-{order}"))
        assert found == (ListEncoding.UTF_16, [("ann@example.com", None)])


def test_json_may_be_in_any_of_them() -> None:
    found = read('[{"email": "ann@example.com", "detail": "Zoë"}]'.encode("utf-16"))

    assert found == (ListEncoding.UTF_16, [("ann@example.com", "Zoë")])


@pytest.mark.parametrize("at", [0, 1, 2, 3, 1024 * 1024 - 1, 1024 * 1024, 3 * 1024 * 1024 + 1])
def test_one_character_of_utf8_makes_a_list_utf8_wherever_it_is(at: int) -> None:
    octets = b"a" * at + "ü".encode() + b"a" * 1024 * 1024

    assert encoding_of(io.BytesIO(octets + b"\xfc")) is ListEncoding.UTF_8
    assert encoding_of(io.BytesIO(octets[:at] + b"\xfc" + octets[at + 2 :])) is (
        ListEncoding.WINDOWS_1252
    )


def test_bytes_that_the_encoding_has_not_spoil_their_line_only() -> None:
    utf8 = "email,detail\nann@example.com,ü\nb@example.com,".encode() + b"\xfc\nc@example.com,\n"
    windows = b"email,detail\nann@example.com,\xfc\nb@example.com,\x81\nc@example.com,\n"
    cut = b"\xff\xfe" + "email\nann@example.com\nb".encode("utf-16-le") + b"@"

    assert read(utf8)[1] == [("ann@example.com", "ü"), 3, ("c@example.com", None)]
    assert read(windows)[1] == [("ann@example.com", "ü"), 3, ("c@example.com", None)]
    assert read(cut)[1] == [("ann@example.com", None), 3]


@pytest.mark.parametrize(
    ("octets", "why"),
    [
        (b"PK\x03\x04\x14\x00", "an .xlsx, .ods or ZIP file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an .xls file"),
        (b"\x1f\x8b\x08\x00", "compressed with gzip"),
        (b"%PDF-1.7", "a PDF file"),
        (ASCII.encode("utf-16-le"), "UTF-16 without a byte order mark"),
        (b"email\n\0\n", "not text"),
    ],
)
def test_a_file_of_another_kind_is_refused_by_its_name(octets: bytes, why: str) -> None:
    with pytest.raises(InvalidField, match=why) as refused:
        read(octets)

    assert refused.value.field == "file"


def test_a_number_of_thousands_of_digits_is_no_element() -> None:
    with pytest.raises(InvalidField, match="element 1 is not valid JSON"):
        read(b"[" + b"9" * 5_000 + b"]")
