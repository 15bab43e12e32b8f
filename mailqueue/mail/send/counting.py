"""Places of the metrics of a send worker. They are counted without a call for each email."""

from mailqueue.mail.model import LogStatus
from mailqueue.telemetry.metrics.declared import (
    SEND_COMMIT_SECONDS,
    SEND_COMMITS,
    SEND_DURATION,
    SEND_RESULTS,
)
from mailqueue.telemetry.metrics.memory import place_of

RESULTS = {status: place_of(SEND_RESULTS, status.value) for status in LogStatus} | {
    None: place_of(SEND_RESULTS, "not_attempted")
}
DURATION = place_of(SEND_DURATION)
BOUNDS_MS = [round(1000 * bound) for bound in SEND_DURATION.bounds]
DURATION_SUM = DURATION + len(BOUNDS_MS) + 1
COMMITS = place_of(SEND_COMMITS)
COMMIT_SECONDS = place_of(SEND_COMMIT_SECONDS)
