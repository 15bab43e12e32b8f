"""What an exception means for the rows that were being handled."""

import os
from contextlib import suppress

from mailqueue.core.errors import MailqueueError
from mailqueue.core.outcome import Retry
from mailqueue.core.queues.model import QueueSpec
from mailqueue.db.faults import concerns_rows
from mailqueue.queue.in_progress import EXIT_OUT_OF_MEMORY
from mailqueue.queue.rows import Claim
from mailqueue.telemetry.log import get_logger

MAX_REASON_CHARACTERS = 2000
"""Characters of an error's message that are kept; `settle_T` stores 1,000 of a reason."""

log = get_logger(__name__)


def concerns_one_row(fault: Exception) -> bool:
    """Return whether a single row may have caused the error, so that the others can continue."""
    return concerns_rows(fault) or isinstance(fault, MailqueueError)


def failure_of(spec: QueueSpec, row: Claim, fault: Exception, *, is_alone: bool = False) -> Retry:
    """Return the failed attempt of the row whose handling raised this.

    A process that handles one row alone has bounded memory. Where that was not enough, the process
    ends: elsewhere the row would have taken the memory of the host.
    """
    if isinstance(fault, MemoryError) and is_alone:
        os._exit(EXIT_OUT_OF_MEMORY)
    if isinstance(fault, MailqueueError):
        return Retry(str(fault))
    if isinstance(fault, TimeoutError):
        return Retry(f"not finished after {spec.time_limit.total_seconds():.0f} s")
    with suppress(Exception):  # its class is of a library, and may not be shown
        log.exception("queue.not_handled", queue=spec.name, row=str(row.id), exc_info=fault)
    return Retry(reason_of(fault))


def reason_of(fault: Exception) -> str:
    """Return the type and the message of an error."""
    try:
        text = str(fault)[:MAX_REASON_CHARACTERS]
    except Exception:  # its class is of a library
        text = "its message cannot be shown"
    return f"{type(fault).__name__}: {text}"
