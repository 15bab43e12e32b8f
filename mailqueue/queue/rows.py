"""What the kernel knows of a claimed row."""

from typing import Protocol, TypeVar
from uuid import UUID


class Claim(Protocol):
    """What every claimed row has; the other columns are those that a handler's row type names."""

    @property
    def id(self) -> UUID: ...
    @property
    def claim_no(self) -> int: ...


Row = TypeVar("Row", bound=Claim)
