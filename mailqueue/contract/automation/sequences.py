"""Sequences: mails that a contact gets one after another, their versions, and enrollments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from mailqueue.contract.suppression import BadLine
from mailqueue.contract.value import Value


class Reenroll(StrEnum):
    """Whether a sequence enrolls a contact again."""

    NEVER = "never"
    AFTER_COMPLETION = "after_completion"  # once the contact did the last step
    AFTER_END = "after_end"  # once it did, or left
    RESTART = "restart"  # at any time: what is not finished ends


class EnrollmentState(StrEnum):
    """State of an enrollment."""

    ACTIVE = "active"
    PAUSED = "paused"  # its sequence is
    COMPLETED = "completed"
    LEFT = "left"  # before the last step
    FAILED = "failed"  # its step could not be done; it can be queued again


class EnrollOutcome(StrEnum):
    """What became of a request to enroll a contact."""

    ENROLLED = "enrolled"
    RESTARTED = "restarted"
    ALREADY_ENROLLED = "already_enrolled"
    ENROLLED_BEFORE = "enrolled_before"
    SUPPRESSED = "suppressed"


class StepResult(StrEnum):
    """What became of a step."""

    SENT = "sent"  # its mail is queued
    SKIPPED = "skipped"  # its condition was not met


@dataclass(frozen=True, slots=True)
class ContactSequence(Value):
    """A sequence: mails that a contact gets one after another once it is enrolled."""

    name: str
    """Name of the sequence, unique in its project."""
    description: str | None
    category: str
    """Category of its mails, which contacts can unsubscribe from."""
    reenroll: Reenroll
    """`never`, `after_completion`, `after_end` (completed or left) or `restart`."""
    is_paused: bool
    """Whether no step is done for now."""
    published_version: int | None
    """Version in which contacts are enrolled; null before the first is published."""
    draft_version: int | None
    """Version that is not published yet; null if there is none."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ContactSequences(Value):
    """The sequences of a project, by name."""

    data: Sequence[ContactSequence]


@dataclass(frozen=True, slots=True)
class SequenceVersion(Value):
    """The steps of a sequence in one version; a published one never changes."""

    version: int
    steps: Sequence[Mapping[str, Any]]
    """Each with `name`, `template`, `delay`, `at`, `weekdays`, `condition` and `next`, where they
    are set."""
    goal: Mapping[str, Any] | None
    """Event after which a contact leaves the sequence."""
    created_by: str
    created_at: datetime
    published_at: datetime | None
    """Null for a draft."""


@dataclass(frozen=True, slots=True)
class SequenceVersions(Value):
    """The versions of a sequence, newest first."""

    data: Sequence[SequenceVersion]


@dataclass(frozen=True, slots=True)
class StepCounts(Value):
    """Enrollments at one step of a version."""

    step: str
    entered: int
    """Enrollments that came to the step, each time counted."""
    sent: int
    """Mails that it made."""
    skipped: int
    """Times that its condition was not met."""
    waiting: int
    """Enrollments that wait for it."""
    departures: Mapping[str, int]
    """Enrollments that left before it, by reason."""


@dataclass(frozen=True, slots=True)
class SequenceCounts(Value):
    """Counts for each step of a version of a sequence."""

    sequence: str
    version: int
    steps: Sequence[StepCounts]


@dataclass(frozen=True, slots=True)
class MovedEnrollments(Value):
    """How many enrollments were moved to the published version."""

    moved: int
    remaining: int
    """Enrollments that are not finished and remain on another version: repeat the request if any
    were moved; the others wait for a step that the published version does not have."""


@dataclass(frozen=True, slots=True)
class Enrolled(Value):
    """What became of a request to enroll a contact."""

    enrollment_id: UUID | None
    """The new enrollment, or the one that the contact has or had; null where it is suppressed."""
    outcome: EnrollOutcome


@dataclass(frozen=True, slots=True)
class Enrollment(Value):
    """A contact in a sequence."""

    id: UUID
    sequence: str
    version: int
    contact_id: UUID
    email: str
    state: EnrollmentState
    reason: str | None
    """Why the contact left: `unsubscribed`, `bounced`, `complained`, `suppressed`, `goal`,
    `removed`, `restarted`, `sequence_removed`, `erased` or `limit`."""
    step: str | None
    """Name of the next step, or of the one before which it ended; null after the last."""
    due_at: datetime | None
    """When that step is due; null where none will be done."""
    time_zone: str
    """Time zone in which it was computed: that of the contact, else that of the project."""
    steps_done: int
    """Steps that were done or skipped."""
    is_test: bool
    enrolled_at: datetime
    finished_at: datetime | None
    error: str | None
    """Why its step could not be done so far."""


@dataclass(frozen=True, slots=True)
class DoneStep(Value):
    """A step that was done."""

    step: str
    version: int
    result: StepResult
    email_id: UUID | None
    """Id of its mail."""
    done_at: datetime


@dataclass(frozen=True, slots=True)
class EnrollmentDetail(Enrollment):
    """A contact in a sequence, with what it did."""

    source: str
    """What enrolled it: an API key, a login, a file or an event rule."""
    variables: Mapping[str, Any]
    """Variables of its mails."""
    steps: Sequence[DoneStep] = ()
    """Steps that were done, in order."""


@dataclass(frozen=True, slots=True)
class EnrolledList(Value):
    """What became of the lines of a list of contacts."""

    enrolled: int
    """Contacts that were enrolled, those that were enrolled again among them."""
    unchanged: int
    """Contacts that are or were enrolled, and are not enrolled again."""
    suppressed: int
    """Contacts that are suppressed."""
    bad: int
    """Lines that are invalid."""
    errors: Sequence[BadLine]
    """The first 1,000 invalid lines."""
