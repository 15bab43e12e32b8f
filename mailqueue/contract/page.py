"""A part of a list."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from mailqueue.contract.value import Value

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Value, Generic[T]):
    """A part of a list; `next_cursor` is null where nothing comes after."""

    data: Sequence[T]
    next_cursor: str | None
