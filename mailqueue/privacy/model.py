"""Values: erasures and exports of persons."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

"""Lends a connection in a transaction of its own: each step commits by itself."""


class ErasureStage(StrEnum):
    """Stage of an erasure."""

    MAIL = "mail"  # mail to the person, queued and finished
    TABLES = "tables"  # every table that may name them
    FILES = "files"  # contents only the person received, and archive files
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Erasure:
    """The erasure of one person in one project; `spellings` are empty once it is done."""

    id: UUID
    project_id: UUID
    address_hash: str
    spellings: list[str]
    stage: str
    place: Mapping[str, Any]
    found: Mapping[str, int]
    requested_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class ErasureProgress:
    """Progress of an erasure; `waiting` is the number of mails that a worker holds now."""

    erasure: Erasure
    waiting: int = 0
    needs: str | None = None  # the step that must be done by hand
    is_elsewhere: bool = False  # another process is erasing

    @property
    def is_done(self) -> bool:
        return self.erasure.stage == ErasureStage.DONE


@dataclass(frozen=True, slots=True)
class Table:
    """A table that may name a person, and the number of pages searched in one step."""

    name: str
    parent: str
    action: str
    pages: int
    step: int

    @property
    def is_settings(self) -> bool:
        return self.action == "tell"


@dataclass(frozen=True, slots=True)
class TablePart:
    """Some pages of a table; `share` is which part of a step it is to search them."""

    table: str
    pages: range
    share: float


@dataclass(frozen=True, slots=True)
class ProjectName:
    """Id and name of a project."""

    id: UUID
    name: str
