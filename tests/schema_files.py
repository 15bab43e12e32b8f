"""Keeps what was read of the schema's files: each command and application reads them all anew."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from mailqueue.db import migrations
from mailqueue.db.sql import sql_folder

_READERS = ("_migration", "_schema_object")


def read_once() -> None:
    """Read each file of the checkout's schema once in this process; those of copies each time."""
    shipped = sql_folder()
    for name in _READERS:
        setattr(migrations, name, _kept(getattr(migrations, name), shipped))


def _kept(read: Callable[..., object], shipped: Path) -> Callable[..., object]:
    remembered = cache(read)

    def kept(path: Path, *folder: Path) -> object:
        return remembered(path, *folder) if shipped in path.parents else read(path, *folder)

    return kept
