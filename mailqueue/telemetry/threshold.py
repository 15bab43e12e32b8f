"""The level from which on lines are logged; a running process can lower it and restore it."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import structlog

from mailqueue.settings.logs import LogLevel

LEVELS: Mapping[str, int] = MappingProxyType(
    {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}
)


class Threshold:
    """The level from which on lines are logged.

    It is the configured level, or debug once all is to be logged, until it is restored.
    """

    def __init__(self) -> None:
        self.is_lowered = False
        self._configured = self.level = 0
        self._followers = list[Callable[[], None]]()

    def configure(self, level: LogLevel) -> None:
        """Set the configured level."""
        self._configured = LEVELS[level]
        self._set(is_lowered=self.is_lowered)

    def lower(self) -> None:
        """Log all lines from now on."""
        self._set(is_lowered=True)

    def restore(self) -> None:
        """Log lines of the configured level from now on."""
        self._set(is_lowered=False)

    def follow(self, follower: Callable[[], None]) -> None:
        """Call `follower` whenever the level is lowered or restored, until it is left."""
        self._followers.append(follower)

    def leave(self, follower: Callable[[], None]) -> None:
        """Call `follower` no more."""
        if follower in self._followers:
            self._followers.remove(follower)

    def admits(self, method: str) -> bool:
        """Return whether lines of a logger's method are logged now."""
        return LEVELS.get(method, self.level) >= self.level

    def _set(self, *, is_lowered: bool) -> None:
        self.is_lowered = is_lowered
        self.level = min(LEVELS["debug"], self._configured) if is_lowered else self._configured
        for follower in tuple(self._followers):
            follower()


THRESHOLD = Threshold()
"""The level of this process."""


class AdjustableLogger(structlog.make_filtering_bound_logger("notset")):  # type: ignore[misc]
    """A logger whose level can change after its first line, unlike those of structlog."""

    def _proxy_to_logger(self, method_name: str, event: str | None = None, **fields: Any) -> Any:
        if THRESHOLD.admits(method_name):
            return super()._proxy_to_logger(method_name, event, **fields)
        return None

    def is_enabled_for(self, level: int) -> bool:
        """Return whether lines of a level are logged now."""
        return level >= THRESHOLD.level

    def get_effective_level(self) -> int:
        """Return the level from which on lines are logged now."""
        return THRESHOLD.level
