"""A part of a list."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from mailqueue.contract.value import Value

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Page(Value, Generic[T]):
    """A part of a list; `next_cursor` is null where nothing comes after."""

    data: Sequence[T]
    next_cursor: str | None

    def map(self, shown: Callable[[T], U]) -> "Page[U]":
        """Return the same part of the list, each element as `shown` returns it. Pure."""
        return Page([shown(each) for each in self.data], self.next_cursor)
