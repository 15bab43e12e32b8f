"""Request bodies and queries of sequences and enrollments."""

from typing import Annotated, Literal

from pydantic import Field

from mailqueue.api.emails.schema import StorableObject, StorableText
from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel

NameText = Annotated[StorableText, Field(min_length=1, max_length=63)]
EventText = Annotated[StorableText, Field(min_length=1, max_length=200)]
WeekdayWord = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
ReenrollWord = Literal["never", "after_completion", "after_end", "restart"]
StateWord = Literal["active", "paused", "completed", "left", "failed"]


class SequenceGoal(StrictRequestModel):
    """An event after which a contact leaves the sequence."""

    event: EventText
    """`delivered`, `opened`, `clicked` or `bounced` of a mail of the sequence, or the type of an
    event that an event rule records."""
    step: NameText | None = None
    """Step whose mail it is about; any step if omitted."""


class StepCondition(SequenceGoal):
    """An event that must have happened since the contact was enrolled, or must not."""

    happened: bool | None = None
    """False: the step is done only if it has not happened. True if omitted."""


class SequenceStep(StrictRequestModel):
    """One step of a sequence: a mail and when it is made."""

    name: NameText
    """Name of the step, unique in its sequence: lower-case letters, digits, `-` and `_`."""
    template: Annotated[StorableText, Field(min_length=1, max_length=120)]
    """Template of its mail: slug, or slug@version."""
    delay: Annotated[StorableText, Field(max_length=20)] | None = None
    """Wait after the step before: a number and `m`, `h`, `d` or `w`, such as `3d`; none if
    omitted. Minutes and hours are elapsed time, days and weeks those of the calendar. At most
    366 days."""
    at: Annotated[StorableText, Field(max_length=20)] | None = None
    """Time of day such as `09:00`, in the time zone of the contact, else of the project."""
    weekdays: Annotated[list[WeekdayWord], Field(min_length=1, max_length=7)] | None = None
    """Days of the week on which it is made; every day if omitted."""
    condition: StepCondition | None = None
    """Condition without which the step is skipped."""
    next: NameText | None = None
    """Step that follows once its mail is made; the one below it if omitted. After a skip the one
    below it follows always."""


class ChangeSequence(StrictRequestModel):
    """Fields of a sequence to change; omitted fields are unchanged."""

    description: Annotated[StorableText, Field(max_length=500)] | None = None
    """Description for people."""
    category: Annotated[StorableText, Field(max_length=63)] | None = None
    """Category of its mails; `marketing` if null. Recipients must be able to unsubscribe from
    it."""
    reenroll: ReenrollWord | None = None
    """Whether a contact is enrolled again: `never`, `after_completion`, `after_end` (completed or
    left) or `restart` (at any time, what is not finished ends). `never` if null."""
    steps: Annotated[list[SequenceStep], Field(min_length=1, max_length=100)] | None = None
    """Steps of the draft, in order."""
    goal: SequenceGoal | None = None
    """Event after which a contact leaves the sequence."""


class NewSequence(ChangeSequence):
    """A sequence to add."""

    name: NameText
    """Name of the sequence, unique in its project: lower-case letters, digits, `-` and `_`."""
    steps: Annotated[list[SequenceStep], Field(min_length=1, max_length=100)]
    """Steps of the draft, in order."""


class MoveEnrollments(StrictRequestModel):
    """Enrollments to move to the published version."""

    from_version: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Version to move from; every other version if omitted."""


class CountsQuery(RequestModel):
    """The version of counts."""

    version: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Version; the published one if omitted."""


class EnrollContact(StrictRequestModel):
    """A contact to enroll."""

    email: Annotated[StorableText, Field(min_length=1, max_length=320)]
    """Address of the contact, which is added if there is none."""
    variables: StorableObject = Field(default_factory=dict)
    """Variables of the mails, up to 16 KiB; `contact` has the fields of the contact."""


class EnrollmentsQuery(PageQuery):
    """Filters of a list of enrollments."""

    sequence: NameText | None = None
    """Filter by sequence."""
    email: Annotated[StorableText, Field(min_length=1, max_length=320)] | None = None
    """Filter by the address of the contact."""
    state: StateWord | None = None
    """Filter by state."""
