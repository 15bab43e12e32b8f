"""Dependencies of the queues `stats`, `exports` and `ab-tests`."""

from functools import partial

from mailqueue.analytics.ab_tests.handler import AbTestHandler
from mailqueue.analytics.exports.handler import ExportHandler
from mailqueue.analytics.handler import StatsHandler
from mailqueue.privacy.collecting import collect
from mailqueue.settings.environment import Settings


def stats_handler(settings: Settings) -> StatsHandler:
    """Return the handler of queue `stats`."""
    return StatsHandler(settings.database)


def export_handler(settings: Settings) -> ExportHandler:
    """Return the handler of queue `exports`."""
    return ExportHandler(settings.database, partial(collect, settings.database))


def ab_test_handler(settings: Settings) -> AbTestHandler:
    """Return the handler of queue `ab-tests`."""
    return AbTestHandler(settings.database)
