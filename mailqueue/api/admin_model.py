"""What administrators ask and are shown about the whole installation. Values only."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from mailqueue.administration.events import TYPES
from mailqueue.administration.model import HealthCheck, RevokedKey
from mailqueue.api.paging import PageQuery

Name = Annotated[str, Field(max_length=100)]


class ChangeSettings(BaseModel):
    """Settings to change, written as they are shown; numbers may be numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    settings: Annotated[dict[Name, str | int | float], Field(min_length=1, max_length=100)]


class ChangeFlags(BaseModel):
    """Flags to switch."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    flags: Annotated[dict[Name, bool], Field(min_length=1, max_length=100)]


class RevokeKeys(BaseModel):
    """Keys to put out of force: those that fit all that is named, or all."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    reason: Annotated[str, Field(min_length=1, max_length=500)]
    project: Annotated[str, Field(max_length=100)] | None = None
    prefix: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    key: Annotated[str, Field(max_length=200)] | None = None
    all: bool = False


class EventsQuery(PageQuery):
    """What is looked for; without a time, the last seven days."""

    type: Annotated[str, Field(pattern=f"^({'|'.join(TYPES)})$")] | None = None
    recipient: Annotated[str, Field(min_length=3, max_length=320)] | None = None
    project: Annotated[str, Field(max_length=100)] | None = None
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None


@dataclass(frozen=True, slots=True)
class Revoked:
    """The keys that were put out of force."""

    revoked: int
    keys: list[RevokedKey]


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """Something that happened to a mail: an event, or an attempt to hand it over."""

    id: str
    source: str
    type: str
    occurred_at: datetime
    project: str | None
    email_id: UUID
    recipient: str | None
    sender: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class ShownWorker:
    """One worker process as its heartbeat tells."""

    id: int
    kind: str
    host: str
    pid: int
    version: str
    status: str
    started_at: datetime
    beat_at: datetime
    silent_seconds: float
    assigned: int
    is_parked: bool
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Health:
    """How everything is: the worst state of all checks, and what each found."""

    status: str
    checks: list[HealthCheck]
