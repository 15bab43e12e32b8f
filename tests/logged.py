"""Reads the log lines of one module, whatever logging was configured before in this process."""

import logging
from io import BytesIO
from types import ModuleType

import pytest
import structlog

from mailqueue.telemetry.log import processors


def log_of(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> BytesIO:
    """Collect the lines of a module, as they would be written in JSON."""
    written = BytesIO()
    own = structlog.wrap_logger(
        structlog.BytesLogger(written),
        processors=processors(console=False),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )
    monkeypatch.setattr(module, "log", own)
    return written
