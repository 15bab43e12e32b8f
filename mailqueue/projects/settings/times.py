"""The settings of a project that hold mail back until a time of day, or a later day."""

from mailqueue.projects.settings.model import ProjectSetting
from mailqueue.projects.settings.model import ProjectSettingKind as Kind
from mailqueue.projects.settings.model import SettingGroup as Group

TIME_SETTINGS: tuple[ProjectSetting, ...] = (
    ProjectSetting(
        "low_priority_window",
        Kind.TEXT,
        Group.SENDING,
        "Time of day at which emails of low priority are sent, "
        "such as '22:00-06:00 Europe/Berlin'.",
        metavar="WINDOW",
        shown_default="any time",
    ),
    ProjectSetting(
        "quiet_hours",
        Kind.TEXT,
        Group.SENDING,
        "Time of day at which no marketing is sent, such as 21:00-08:00, in the time zone of "
        "its recipient.",
        metavar="BEGIN-END",
        shown_default="none",
    ),
    ProjectSetting(
        "frequency_cap",
        Kind.TEXT,
        Group.SENDING,
        "Marketing emails that each recipient gets in a number of days, such as 3/7d.",
        metavar="EMAILS/DAYSd",
        shown_default="any number",
    ),
)
