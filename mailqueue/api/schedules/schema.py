"""Request bodies and queries of schedules."""

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field

from mailqueue.api.emails.schema import StorableObject, StorableText, Whole
from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel
from mailqueue.api.sending.option_fields import options_by_field, with_option_fields
from mailqueue.api.sending.schema import SenderId
from mailqueue.schedules.planning import MAX_PREVIEW

MAX_RECIPIENTS = 10_000
"""Recipients and lists that one schedule names at most."""
ScheduleStatusWord = Literal["active", "paused", "cancelled", "completed", "failed"]


class ScheduleRecipient(StrictRequestModel):
    """A recipient with values of its own."""

    email: Annotated[StorableText, Field(max_length=600)]
    """Address, such as `ann@example.com`."""
    name: Annotated[StorableText, Field(max_length=320)] | None = None
    """Name beside the address."""
    timezone: Annotated[StorableText, Field(max_length=100)] | None = None
    """Time zone of the recipient, for schedules of type `local`."""
    language: Annotated[StorableText, Field(max_length=100)] | None = None
    """Language of the template for this recipient."""
    variables: StorableObject | None = None
    """Values for this recipient; they override those of the payload."""


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


ScheduleRecipients = Annotated[
    list[StorableText | ScheduleRecipient],
    BeforeValidator(
        _listed, json_schema_input_type=list[StorableText | ScheduleRecipient] | StorableText
    ),
    Field(min_length=1, max_length=MAX_RECIPIENTS),
]


@with_option_fields(of_one=False)
class ScheduledMessage(StrictRequestModel):
    """Recipients, content and options of the emails of a schedule."""

    to: ScheduleRecipients
    """Addresses, names of contact lists, or objects with `email`; each gets an email of its own."""
    variables: StorableObject = Field(default_factory=dict)
    """Values by name of variable. Texts may have `{{ run.number }}`, `{{ run.date }}`,
    `{{ run.time }}`, `{{ run.week }}`, `{{ run.month }}`, `{{ run.year }}`,
    `{{ run.scheduled_at }}`, `{{ run.previous_at }}` and `{{ run.name }}`."""
    category: StorableText | None = None
    """`transactional`, `marketing` or a lower-case word of your own."""
    subject: StorableText | None = None
    """Subject, without a template."""
    html_body: StorableText | None = Field(
        default=None, validation_alias=AliasChoices("html_body", "html")
    )
    """HTML body, without a template."""
    text_body: StorableText | None = Field(
        default=None, validation_alias=AliasChoices("text_body", "text")
    )
    """Plain text body, without a template."""
    smtp_config_id: SenderId | None = Field(
        default=None, validation_alias=AliasChoices("smtp_config_id", "sender")
    )
    """Id or name of the sender account; if omitted, by routing and priority."""

    def options(self) -> dict[str, Any]:
        """Return the options of `mailqueue.enqueue`."""
        return {
            option: value
            for name, option in options_by_field(type(self)).items()
            if (value := getattr(self, name)) not in (None, [], {})
        }


class ScheduleRequest(StrictRequestModel):
    """A schedule to add, or what it does from now on."""

    name: Annotated[StorableText, Field(min_length=1, max_length=200)] | None = None
    """Name, unique among the unfinished schedules of the project."""
    schedule_type: Literal["once", "cron", "local"]
    """`once` at `run_at`; `cron` by `cron_expression`; `local`: at a time on the clock of each
    recipient, `run_at` without an offset or `cron_expression`."""
    run_at: Annotated[StorableText, Field(max_length=40)] | None = None
    """Time, such as `2030-05-01T09:00:00Z`; without an offset in `timezone`."""
    cron_expression: Annotated[StorableText, Field(max_length=200)] | None = None
    """Minute, hour, day of month, month and day of week, such as `0 9 * * 1`, with names, `L` and
    `#`; or a word such as `@daily`."""
    timezone: Annotated[StorableText, Field(max_length=100)] | None = None
    """Time zone of `run_at` and `cron_expression`; that of the project if omitted."""
    template_slug: Annotated[StorableText, Field(max_length=100)] | None = None
    """Slug of the template."""
    template_version: StorableText | Whole | None = None
    """Version number, or `published` at the time of each run, the default."""
    language: Annotated[StorableText, Field(max_length=100)] | None = None
    """Language of the template."""
    payload: ScheduledMessage
    """Recipients, variables and options of the emails."""
    missed: Literal["skip", "latest", "all"] = "latest"
    """Of occurrences that are more than 5 minutes late: `skip` them, run the `latest`, or `all`
    (the last 100)."""
    overlap: Literal["skip", "queue"] = "queue"
    """While a run is still being made: `skip` an occurrence, or `queue` it."""
    ends_at: Annotated[StorableText, Field(max_length=40)] | None = None
    """No occurrence after it runs."""
    max_runs: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Number of runs after which the schedule is completed."""
    spread_seconds: Annotated[int, Field(ge=0, le=604_800)] = 0
    """Length of the window over which the emails of a run are spread."""


class NewSchedule(ScheduleRequest):
    """A schedule to add, or to try."""

    dry_run: bool = False
    """Return what a run would come to, and add nothing."""


class ScheduleQuery(PageQuery):
    """Filters of a list of schedules."""

    status: ScheduleStatusWord | None = None
    """Filter by status."""


class NextRunsQuery(RequestModel):
    """How many occurrences to show."""

    n: Annotated[int, Field(ge=1, le=MAX_PREVIEW)] = 5
    """Number of occurrences."""
