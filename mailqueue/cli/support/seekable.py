"""Files that are read twice, also where they come through a pipe."""

from collections.abc import Iterator
from contextlib import contextmanager
from shutil import copyfileobj
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

IN_MEMORY_BYTES = 1024 * 1024
"""Bytes of standard input that are held in memory; more is kept in a temporary file."""


@contextmanager
def seekable(file: BinaryIO) -> Iterator[BinaryIO]:
    """Yield the file, or a copy of what comes through a pipe."""
    if file.seekable():
        yield file
        return
    with SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as copy:
        kept = cast(BinaryIO, copy)
        copyfileobj(file, kept)
        kept.seek(0)
        yield kept
