"""Determine the character encoding of a list, and refuse files that are not text."""

import codecs
import io
import re
from typing import BinaryIO

from mailqueue.contract.suppression import ListEncoding
from mailqueue.core.errors import InvalidField

UNDECODABLE = "\udcff"
"""Stands for bytes that are invalid in the encoding; the line that contains it is reported."""
_PIECE_BYTES = 1024 * 1024
_HEAD_BYTES = 1024
_ENCODING_BY_MARK = (  # that of UTF-32 begins with that of UTF-16
    (codecs.BOM_UTF32_LE, ListEncoding.UTF_32),
    (codecs.BOM_UTF32_BE, ListEncoding.UTF_32),
    (codecs.BOM_UTF16_LE, ListEncoding.UTF_16),
    (codecs.BOM_UTF16_BE, ListEncoding.UTF_16),
)
_KIND_BY_MAGIC = (
    (b"PK\x03\x04", "an .xlsx, .ods or ZIP file: save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an .xls file: save the sheet as CSV"),
    (b"\x1f\x8b", "compressed with gzip: decompress it"),
    (b"%PDF", "a PDF file"),
)
_CODEC_BY_ENCODING = {ListEncoding.UTF_8: "utf-8-sig"}
_UTF8_CHARACTER = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)


def _mark_undecodable(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return UNDECODABLE, error.end


codecs.register_error("mailqueue.undecodable", _mark_undecodable)


def encoding_of(file: BinaryIO) -> ListEncoding:
    """Return the encoding of a seekable file, which is left at its beginning.

    A byte order mark decides. Without one the file is UTF-8, or Windows-1252 if it has bytes beyond
    ASCII of which none form a character of UTF-8, as in files that Excel saves as "CSV".

    Raises:
        InvalidField: field `file`; it is not text.
    """
    head = file.read(_HEAD_BYTES)
    file.seek(0)
    for mark, encoding in _ENCODING_BY_MARK:
        if head.startswith(mark):
            return encoding
    for magic, kind in _KIND_BY_MAGIC:
        if head.startswith(magic):
            raise InvalidField("file", f"the file is {kind}")
    if b"\0" in head:
        raise InvalidField(
            "file", "the file is not text, or UTF-16 without a byte order mark: save it as UTF-8"
        )
    found = _unmarked(file)
    file.seek(0)
    return found


def _unmarked(file: BinaryIO) -> ListEncoding:
    has_others, end = False, b""
    while piece := file.read(_PIECE_BYTES):
        if not piece.isascii():
            has_others = True
            if _UTF8_CHARACTER.search(end + piece):  # it may begin in the piece before
                return ListEncoding.UTF_8
        end = piece[-3:]
    return ListEncoding.WINDOWS_1252 if has_others else ListEncoding.UTF_8


def text_of(file: BinaryIO, encoding: ListEncoding) -> io.TextIOWrapper:
    """Return the file as text; the caller detaches it.

    Line ends stay as they are, and UNDECODABLE stands for invalid bytes.
    """
    codec = _CODEC_BY_ENCODING.get(encoding, encoding.value)
    return io.TextIOWrapper(file, encoding=codec, errors="mailqueue.undecodable", newline="")
