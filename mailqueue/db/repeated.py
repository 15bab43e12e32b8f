"""Repeats parts of SQL files for each row of a registry, or of a list in the file.

What is repeated is SQL with names in double brackets, `claim_[[table]]`, between comments that only
this module reads: a line that begins with `--%` is a statement of Jinja, such as `--% for queue in
queues`, `--% if queue.key` and `--% endfor`; `/*% … %*/` is one of several lines.
"""

from dataclasses import dataclass
from datetime import timedelta
from functools import cache

from jinja2 import Environment, StrictUndefined, TemplateError, TemplateSyntaxError

from mailqueue.core.errors import ConfigError
from mailqueue.core.queues.model import QueueSpec
from mailqueue.core.queues.registry import MAX_CRASHES, QUEUES
from mailqueue.core.services.registry import SERVICES


@dataclass(frozen=True, slots=True)
class RepeatedColumn:
    """A column that an outcome may write, and its type."""

    name: str
    type: str

    @property
    def is_array(self) -> bool:
        return self.type.endswith("[]")


@dataclass(frozen=True, slots=True)
class RepeatedQueue:
    """A row of QUEUES as SQL files name its parts: `[[queue.table]]`. Intervals are literals."""

    name: str
    table: str
    done: str
    key: str | None
    has_circuit: bool
    is_mostly_later: bool
    columns: tuple[RepeatedColumn, ...]
    first_wait: str
    longest_wait: str
    on_unknown: str
    keeps_done: bool
    max_crashes: int = MAX_CRASHES


@dataclass(frozen=True, slots=True)
class RepeatedService:
    """A row of SERVICES as SQL files name its parts: `[[service.command]]`."""

    name: str
    command: tuple[str, ...]
    queues: tuple[str, ...]
    is_listener: bool
    need: str | None


def is_repeated(text: str) -> bool:
    """Return whether an SQL file has parts that are repeated."""
    return any(line.lstrip().startswith("--%") for line in text.splitlines())


def repeated(text: str) -> str:
    """Return the text of an SQL file with its parts repeated.

    Raises:
        ConfigError: a part is not closed, or a name is not known.
    """
    try:
        return _environment().from_string(text).render()
    except TemplateError as exc:
        line = f"line {exc.lineno}: " if isinstance(exc, TemplateSyntaxError) else ""
        raise ConfigError(f"an SQL file with parts to repeat: {line}{exc}") from exc


@cache
def _environment() -> Environment:
    made = Environment(
        line_statement_prefix="--%",
        block_start_string="/*%",
        block_end_string="%*/",
        variable_start_string="[[",
        variable_end_string="]]",
        comment_start_string="/*#",
        comment_end_string="#*/",
        keep_trailing_newline=True,
        trim_blocks=True,
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - SQL, and all that is filled in is our own
    )
    made.globals["queues"] = [_queue(one) for one in QUEUES]
    made.globals["services"] = [
        RepeatedService(one.name, one.command, one.queues, one.listener is not None, one.need)
        for one in SERVICES
    ]
    return made


def _queue(spec: QueueSpec) -> RepeatedQueue:
    return RepeatedQueue(
        name=spec.name,
        table=spec.table,
        done=spec.done,
        key=spec.key,
        has_circuit=spec.has_circuit,
        is_mostly_later=spec.is_mostly_later,
        columns=tuple(RepeatedColumn(name, kind) for name, kind in spec.columns.items()),
        first_wait=_literal(spec.backoff.first),
        longest_wait=_literal(spec.backoff.longest),
        on_unknown=spec.on_unknown.value,
        keeps_done=spec.keeps_done,
    )


def _literal(length: timedelta) -> str:
    """Return a length of time as PostgreSQL writes an interval of whole seconds: `01:30:00`."""
    minutes, seconds = divmod(int(length.total_seconds()), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
