"""Values: what is imported, and what a worker reads of it. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

from mailqueue.contract.background import ImportKind
from mailqueue.contract.suppression import BadLine


@dataclass(frozen=True, slots=True)
class WantedImport:
    """An import that is to begin; the file is seekable."""

    kind: ImportKind
    file: BinaryIO
    file_name: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    is_test: bool = False


class OpenImport(NamedTuple):
    """An import as its worker sees it; `lines_read` are behind it."""

    state: str
    kind: str
    options: Mapping[str, Any]
    encoding: str
    lines_read: int
    parts: int


@dataclass(frozen=True, slots=True)
class ReadLines:
    """Lines of a file in a row, `to` the number of all up to the last of them."""

    to: int
    valid: list[tuple[int, Mapping[str, Any]]]
    refused: list[BadLine]
