"""What a picture is, is read from its bytes; what is not one whole picture is refused."""

import struct

import pytest

from mailqueue.core.errors import InvalidField
from mailqueue.templates.pictures.formats import kind_of
from mailqueue.templates.pictures.model import MAX_BYTES, PictureKind
from tests.templates.pictures.drawing import GIF, WEBP, WEBP_LOSSLESS, chunk, jpeg, png, png_of

WHOLE = {
    "image/png": (png(), 3, 2),
    "image/jpeg": (jpeg(), 3, 2),
    "image/gif": (GIF, 2, 1),
    "image/webp": (WEBP, 1, 1),
}
EXTENDED = b"VP8X" + struct.pack("<I", 10) + b"\0" * 4 + b"\x3f\1\0" + b"\x7a\0\0"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


def webp(*chunks: bytes) -> bytes:
    body = b"WEBP" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize("media_type", WHOLE)
def test_type_and_size_are_read_from_the_bytes(media_type: str) -> None:
    octets, width, height = WHOLE[media_type]

    assert kind_of(octets) == PictureKind(media_type, width, height)


def test_a_webp_says_its_size_in_each_of_its_forms() -> None:
    assert kind_of(WEBP_LOSSLESS) == PictureKind("image/webp", 1, 1)
    assert kind_of(webp(EXTENDED, WEBP[12:])) == PictureKind("image/webp", 320, 123)


@pytest.mark.parametrize("media_type", WHOLE)
def test_a_picture_that_is_cut_off_anywhere_is_refused(media_type: str) -> None:
    octets, _, _ = WHOLE[media_type]

    for length in range(len(octets)):
        with pytest.raises(InvalidField) as refused:
            kind_of(octets[:length])
        assert refused.value.field == "file"
        assert "behind" not in refused.value.why


@pytest.mark.parametrize("media_type", WHOLE)
@pytest.mark.parametrize("other", [b"<script>alert(1)</script>", b"PK\x05\x06" + b"\0" * 18, b"\0"])
def test_a_picture_that_is_another_file_too_is_refused(media_type: str, other: bytes) -> None:
    octets, _, _ = WHOLE[media_type]

    with pytest.raises(InvalidField, match="other bytes behind the picture"):
        kind_of(octets + other)


@pytest.mark.parametrize(
    "octets",
    [
        b"",
        SVG,
        b"\n" + SVG,
        b"<!DOCTYPE html><img src='x'>",
        b"%PDF-1.7",
        b"BM" + b"\0" * 60,
        b"\0\0\x01\0" + b"\0" * 60,
        b" " + png(),
        b"\xff\xd8" + SVG,
        b"\x89PNG\r\n\x1a\n" + SVG,
        b"GIF89a" + b"=1/*" + SVG + b"*/",
        b"RIFF" + struct.pack("<I", len(SVG) + 4) + b"WEBP" + SVG,
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", b"\0" * 13) + chunk(b"IEND"),
        png()[:-1] + b"\0",
        b"\xff\xd8\xff\xd9",
        b"GIF89a\1\0\1\0\0\0\0;",
        webp(EXTENDED),
    ],
)
def test_bytes_that_are_no_picture_of_a_kind_that_is_taken_are_refused(octets: bytes) -> None:
    with pytest.raises(InvalidField) as refused:
        kind_of(octets)

    assert refused.value.field == "file"


def test_a_picture_of_1_mib_is_taken_and_one_byte_more_is_refused() -> None:
    assert kind_of(png_of(MAX_BYTES)).media_type == "image/png"
    with pytest.raises(InvalidField, match="at most 1 MiB"):
        kind_of(png_of(MAX_BYTES + 1))


@pytest.mark.parametrize("sides", [(0, 2), (3, 0), (10_001, 2), (3, 2**31)])
def test_a_picture_of_no_or_too_many_pixels_is_refused(sides: tuple[int, int]) -> None:
    with pytest.raises(InvalidField, match="pixels a side"):
        kind_of(png(*sides))
