"""Reads the log lines of one module, and has tests begin with logging as no command set it up."""

import logging
import sys
from collections.abc import Iterator
from io import BytesIO
from types import ModuleType
from typing import BinaryIO, cast

import pytest
import structlog
from structlog._config import BoundLoggerLazyProxy

from mailqueue.telemetry.log import (
    LossyStream,
    configure_plain_logging,
    processors,
    to_standard_error,
)


def log_of(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> BytesIO:
    """Collect the lines of a module, as they would be written in JSON."""
    written = BytesIO()
    own = structlog.wrap_logger(
        structlog.BytesLogger(cast(BinaryIO, LossyStream(written))),
        processors=processors(console=False),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )
    monkeypatch.setattr(module, "log", own)
    return written


def forget_configuration() -> None:
    """Have no logger keep what a command configured that ran in this process."""
    if structlog.get_config()["logger_factory"] is to_standard_error:
        return
    structlog.reset_defaults()
    configure_plain_logging()
    modules = [module for name, module in sys.modules.items() if name.startswith("mailqueue.")]
    for each in (value for module in modules for value in vars(module).values()):
        if isinstance(each, BoundLoggerLazyProxy):
            vars(each).pop("bind", None)


@pytest.fixture(autouse=True)
def logging_as_at_the_start() -> Iterator[None]:
    """Commands that a test runs in this process configure logging; the next test knows nothing."""
    yield
    forget_configuration()
