"""The settings of a project for bounces, and for notices of complaints and bounces."""

from mailqueue.projects.settings.model import ProjectSetting
from mailqueue.projects.settings.model import ProjectSettingKind as Kind
from mailqueue.projects.settings.model import SettingGroup as Group

BOUNCE_SETTINGS: tuple[ProjectSetting, ...] = (
    ProjectSetting(
        "bounce_address",
        Kind.TEXT,
        Group.BOUNCES,
        "Envelope sender, to which bounces are sent.",
        metavar="ADDRESS",
        shown_default="From",
    ),
    ProjectSetting(
        "bounce_domain",
        Kind.TEXT,
        Group.BOUNCES,
        "Domain of signed return paths, whose mail `mailqueue worker bounces` receives.",
        metavar="DOMAIN",
    ),
    ProjectSetting(
        "soft_bounce_limit",
        Kind.NUMBER,
        Group.BOUNCES,
        "Soft bounces after which an address is suppressed; 0: never.",
        option="--soft-bounces",
        shown_default="5",
        unit="bounces",
        default=5,
    ),
    ProjectSetting(
        "soft_bounce_days",
        Kind.NUMBER,
        Group.BOUNCES,
        "Days for which soft bounces are counted.",
        shown_default="30",
        unit="days",
        default=30,
    ),
    ProjectSetting(
        "notices_to",
        Kind.TEXT,
        Group.BOUNCES,
        "Address to which notices of complaints and of too many bounces are mailed.",
        metavar="ADDRESS",
    ),
)
