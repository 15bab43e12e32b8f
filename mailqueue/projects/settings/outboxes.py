"""The settings of a project for view outboxes and for mail in order."""

from mailqueue.projects.settings.model import ProjectSetting
from mailqueue.projects.settings.model import ProjectSettingKind as Kind
from mailqueue.projects.settings.model import SettingGroup as Group

OUTBOX_SETTINGS: tuple[ProjectSetting, ...] = (
    ProjectSetting(
        "outbox_duplicates",
        Kind.CHOICE,
        Group.SENDING,
        "Second INSERT of an id into view outboxes: raise an error, or give no row.",
        metavar="error|skip",
        shown_default="error",
        default="error",
    ),
    ProjectSetting(
        "ordering",
        Kind.TEXT,
        Group.SENDING,
        "What emails have in common that go in the order in which they were inserted.",
        metavar="project|outboxes|custom_data.NAME",
        shown_default="no order",
    ),
    ProjectSetting(
        "ordering_on_failure",
        Kind.CHOICE,
        Group.SENDING,
        "When an ordered email fails or expires: go on with the next one, or wait for a person.",
        metavar="continue|block",
        shown_default="continue",
        default="continue",
    ),
    ProjectSetting(
        "management_events",
        Kind.TEXT,
        Group.SENDING,
        "By which ways events may archive and resend emails, separated by commas.",
        metavar="sql|api|rabbitmq",
        shown_default="none",
    ),
)
