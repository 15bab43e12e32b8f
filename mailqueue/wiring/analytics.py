"""Dependencies of the queues `stats` and `exports`."""

from mailqueue.analytics.exports.handler import ExportHandler
from mailqueue.analytics.handler import StatsHandler
from mailqueue.settings.environment import Settings


def stats_handler(settings: Settings) -> StatsHandler:
    """Return the handler of queue `stats`."""
    return StatsHandler(settings.database)


def export_handler(settings: Settings) -> ExportHandler:
    """Return the handler of queue `exports`."""
    return ExportHandler(settings.database)
