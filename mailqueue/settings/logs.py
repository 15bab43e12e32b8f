"""Settings of log lines."""

from dataclasses import dataclass
from enum import StrEnum


class LogFormat(StrEnum):
    """Format of log lines; auto is console on a terminal and JSON otherwise."""

    AUTO = "auto"
    CONSOLE = "console"
    JSON = "json"


class LogLevel(StrEnum):
    """The lowest severity that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Level and format of logs."""

    level: LogLevel
    format: LogFormat
