"""Dependencies of the queue `stats`."""

from mailqueue.analytics.handler import StatsHandler
from mailqueue.settings.environment import Settings


def stats_handler(settings: Settings) -> StatsHandler:
    """Return the handler of queue `stats`."""
    return StatsHandler(settings.database)
