"""The form of a new export: what was typed, as what is exported, from when to when. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from mailqueue.admin.users.model import Right
from mailqueue.analytics.exports.model import FILTERS, WantedExport
from mailqueue.contract.exports import ExportFormat, ExportKind
from mailqueue.core.errors import InvalidField
from mailqueue.web.forms import day_of, text_of

MAX_CONDITION = 300
"""Maximum length in characters of a condition."""
KINDS: Mapping[ExportKind, str] = {
    ExportKind.EMAILS: "Emails",
    ExportKind.RECIPIENTS: "Recipients",
    ExportKind.EVENTS: "Events",
    ExportKind.STATS: "Counts",
    ExportKind.SUPPRESSIONS: "Suppressions",
    ExportKind.PERSON: "Data of a person",
}
"""What is exported, as pages name it; persons ask for theirs themselves."""
ROWS: Mapping[ExportKind, str] = {
    ExportKind.EMAILS: "A row for each email that was accepted in the time, finished or not.",
    ExportKind.RECIPIENTS: "A row for each recipient of an email, with its delivery, bounce, "
    "complaint, opens and clicks.",
    ExportKind.EVENTS: "A row for each event of an email: sent, delivered, bounced, opened.",
    ExportKind.STATS: "A row for each quarter of an hour and value of a dimension.",
    ExportKind.SUPPRESSIONS: "A row for each suppression in force.",
}
"""What a file of each kind has."""
FORMATS = (
    (ExportFormat.CSV.value, "CSV, for spreadsheets"),
    (ExportFormat.JSON.value, "JSON: an array of objects"),
    (ExportFormat.NDJSON.value, "NDJSON: an object per line"),
    (ExportFormat.PARQUET.value, "Parquet, for data tools"),
)
PERIODS = (
    ("last_month", "last month"),
    ("this_month", "this month up to now"),
    ("week", "the last 7 days"),
    ("month", "the last 30 days"),
    ("all", "everything up to now"),
    ("days", "the days below"),
)
"""The times that the form offers; in UTC."""
CONDITIONS = tuple(dict.fromkeys(name for names in FILTERS.values() for name in names))
NAMES = ("kind", "format", "period", "since", "until", "mode", *CONDITIONS)
LABELS: Mapping[str, str] = {
    "status": "Status",
    "campaign": "Campaign",
    "tag": "Tag",
    "category": "Category",
    "type": "Type of event",
    "dimension": "Dimension",
    "reason": "Reason",
}


def kind_of(text: str) -> ExportKind:
    """Return the kind of a text, emails for an empty one.

    Raises:
        InvalidField: there is no such kind.
    """
    if text and text not in ROWS:
        raise InvalidField("kind", "must be one of those shown")
    return ExportKind(text or ExportKind.EMAILS)


def right_for(kind: ExportKind) -> Right:
    """Return the right that a user needs for a file of a kind: that to read its rows here."""
    is_of_recipients = kind in (ExportKind.SUPPRESSIONS, ExportKind.PERSON)
    return Right.MANAGE_RECIPIENTS if is_of_recipients else Right.READ_MESSAGES


def wanted_export(form: Mapping[str, str], now: datetime) -> WantedExport:
    """Return the export that a form asks for.

    Raises:
        InvalidField: a choice is not one of those shown, or a day is none.
    """
    kind, form_of_file = kind_of(text_of(form, "kind")), text_of(form, "format")
    if form_of_file not in dict(FORMATS):
        raise InvalidField("format", "must be one of those shown")
    given = {name: text_of(form, name) for name in FILTERS[kind]}
    for name, value in given.items():
        if len(value) > MAX_CONDITION:
            raise InvalidField(name, f"must have at most {MAX_CONDITION} characters")
    since, until = _bounds_of(form, now)
    return WantedExport(
        kind,
        ExportFormat(form_of_file),
        {name: value for name, value in given.items() if value},
        since,
        until,
        is_test=text_of(form, "mode") == "test",
    )


def _bounds_of(form: Mapping[str, str], now: datetime) -> tuple[datetime | None, datetime | None]:
    """Return the bounds of the time of a form; None: none, and now."""
    month = now.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    match text_of(form, "period"):
        case "last_month":
            return (month - timedelta(days=1)).replace(day=1), month
        case "this_month":
            return month, None
        case "week":
            return now - timedelta(days=7), None
        case "month":
            return now - timedelta(days=30), None
        case "all":
            return None, None
        case "days":
            return _days_of(form, now)
        case _:
            raise InvalidField("period", "must be one of those shown")


def _days_of(form: Mapping[str, str], now: datetime) -> tuple[datetime | None, datetime | None]:
    """Return the begin of the first day of a form, and the end of its last one."""
    since, until = (_day(form, name) for name in ("since", "until"))
    if since is not None and until is not None and until < since:
        raise InvalidField("until", "must not be before the first day")
    end = None if until is None else until + timedelta(days=1)
    return since, None if end is None or end > now else end


def _day(form: Mapping[str, str], name: str) -> datetime | None:
    text = text_of(form, name)
    found = day_of(text)
    if text and found is None:
        raise InvalidField(name, "must be a day such as 2030-05-01")
    return found
