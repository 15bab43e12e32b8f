"""Writes log lines to standard error, without addresses, bodies and secrets."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, AnyStr, BinaryIO, Generic, TextIO, cast

import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

from mailqueue.core.json.writing import write_json
from mailqueue.settings.logs import LogFormat, LogSettings
from mailqueue.telemetry.threshold import THRESHOLD, AdjustableLogger

_ADDRESS_KEYS = ("recipient", "address", "email", "sender")
_NEVER_LOGGED = ("body", "subject", "password", "secret", "token", "credential", "api_key")
_KEPT_CHARACTERS = 3


class LossyStream(Generic[AnyStr]):
    """A stream for log lines that drops those it cannot write.

    Its disk may be full, its reader gone, or it is closed: what is logged goes on.
    """

    def __init__(self, stream: IO[AnyStr]) -> None:
        self._stream: IO[AnyStr] = stream

    def write(self, line: AnyStr) -> int:
        """Write a line, or drop it; return its length."""
        with suppress(OSError, ValueError):
            self._stream.write(line)
        return len(line)

    def flush(self) -> None:
        """Flush what was written, as far as that is possible."""
        with suppress(OSError, ValueError):
            self._stream.flush()


def to_standard_error(*_: object) -> structlog.PrintLogger:
    """Return a logger for commands that configure none: standard output is for their result."""
    return structlog.PrintLogger(cast(TextIO, LossyStream(sys.stderr)))


def configure_logging(settings: LogSettings) -> None:
    """Set up logging for this process; called once at its start."""
    wants_console = settings.format is LogFormat.CONSOLE or (
        settings.format is LogFormat.AUTO and sys.stderr.isatty()
    )
    THRESHOLD.configure(settings.level)
    structlog.configure(
        processors=processors(console=wants_console),
        wrapper_class=AdjustableLogger,
        logger_factory=structlog.PrintLoggerFactory(cast(TextIO, LossyStream(sys.stderr)))
        if wants_console
        else structlog.BytesLoggerFactory(cast(BinaryIO, LossyStream(sys.stderr.buffer))),
        cache_logger_on_first_use=True,
    )
    # Packages that use the standard library's logging: warnings and errors only.
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(name)s: %(message)s")


def get_logger(name: str) -> FilteringBoundLogger:
    """Return a module's logger; its lines have the module's name."""
    logger: FilteringBoundLogger = structlog.get_logger(module=name)
    return logger


@contextmanager
def bound(**ids: object) -> Iterator[None]:
    """Add ids to every log line of this task until the block ends."""
    with structlog.contextvars.bound_contextvars(**ids):
        yield


def mask(address: str) -> str:
    """Return an address for logs: at most three characters, and the domain.

    `annabel@example.com` becomes `ann***@example.com`; a shorter local part shows one character.
    """
    local, at, domain = address.rpartition("@")
    if not at:
        return "***"
    kept = local[:_KEPT_CHARACTERS] if len(local) > _KEPT_CHARACTERS else local[:1]
    return f"{kept}***@{domain}"


def processors(*, console: bool) -> list[Processor]:
    """Return the processors of log lines, in order."""
    return [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        keep_private,
        structlog.processors.StackInfoRenderer(),
        *_renderers(console=console),
    ]


def keep_private(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    """Drop fields that are never logged, and mask addresses."""
    return {
        key: _masked(value) if _is_address(key) else value
        for key, value in line.items()
        if not any(word in key for word in _NEVER_LOGGED)
    }


def _is_address(key: str) -> bool:
    return any(key == word or key.endswith((f"_{word}", f"{word}s")) for word in _ADDRESS_KEYS)


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return mask(value) if "@" in value and "***@" not in value else value
    if isinstance(value, list | tuple):
        return [_masked(each) for each in value]
    return value


def _renderers(*, console: bool) -> list[Processor]:
    if console:
        # Rich tracebacks show the values of variables, including secrets and emails.
        return [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
    return [
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(serializer=_as_json),
    ]


def _as_json(line: EventDict, **_: object) -> bytes:
    return write_json(line, default=str)


def configure_plain_logging() -> None:
    """Log as processes do whose command configures nothing: lines for people, as private."""
    structlog.configure(
        processors=processors(console=True),
        wrapper_class=structlog.make_filtering_bound_logger(logging.NOTSET),
        logger_factory=to_standard_error,
    )


configure_plain_logging()
