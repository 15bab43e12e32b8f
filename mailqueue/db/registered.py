"""Inserts the program's registries into SQL files at markers: rows as JSON, and column lists.

`mailqueue/db/repeated.py` repeats parts of files for each row.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from mailqueue.core.checks import CHECKS
from mailqueue.core.consumers import CONSUMERS
from mailqueue.core.mail_options import MAIL_OPTIONS, MailOption, OptionType
from mailqueue.core.providers import PROVIDERS
from mailqueue.core.queues.registry import MAX_CRASHES, QUEUES, UPKEEP
from mailqueue.core.retained import RETAINED
from mailqueue.core.retention import Privacy, Removal
from mailqueue.db.repeated import is_repeated, repeated

ROWS_BY_MARKER: Mapping[str, list[Any]] = {
    "[[PROVIDERS]]": [
        {
            "name": one.value,
            "label": one.facts.label,
            "has_api": one.facts.has_api,
            "sends_events": one.facts.sends_events,
        }
        for one in PROVIDERS
    ],
    "[[QUEUES]]": [
        {
            "name": one.name,
            "table_name": one.table,
            "done": one.done,
            "key_column": one.key,
            "has_circuit": one.has_circuit,
            "columns": list(one.columns),
            "first_wait": f"{one.backoff.first.total_seconds()} seconds",
            "longest_wait": f"{one.backoff.longest.total_seconds()} seconds",
            "on_unknown": one.on_unknown.value,
            "keeps_done": one.keeps_done,
            "max_crashes": MAX_CRASHES,
            "is_upkeep": one.name in UPKEEP,
        }
        for one in QUEUES
    ],
    "[[RETAINED]]": [
        {
            "kind": one.kind,
            "table_name": one.table,
            "time_column": one.time_column,
            "else_column": one.else_column,
            "ended_column": one.ended_column,
            "kept_while": one.kept_while,
            "is_archived": one.is_archived,
            "is_swept": one.leaves is Removal.SWEPT,
            "is_global": one.is_global,
            "days": one.days,
            "cold_days": one.cold_days,
            "keep_days": one.keep_days if one.is_archived else one.days,
        }
        for one in RETAINED
    ],
    "[[CONSUMERS]]": [
        {
            "name": one.name,
            "handler": one.handler,
            "types": one.types,
            "is_ordered": one.is_ordered,
            "takes_test": one.takes_test,
        }
        for one in CONSUMERS
    ],
    "[[CONSUMED_TYPES]]": sorted(
        {kind for one in CONSUMERS if not one.has_subscriptions for kind in one.types}
    ),
    "[[STRING_OPTIONS]]": [
        one.name
        for one in MAIL_OPTIONS
        if one.type in (OptionType.STRING, OptionType.INSTANT, OptionType.PRIORITY)
    ],
    "[[LIST_OPTIONS]]": [one.name for one in MAIL_OPTIONS if one.type is OptionType.STRINGS],
    "[[BOOLEAN_OPTIONS]]": [one.name for one in MAIL_OPTIONS if one.type is OptionType.BOOLEAN],
    "[[DELETED_WITH_A_PERSON]]": [one.table for one in RETAINED if one.privacy is Privacy.DELETE],
}

VALUE_BY_TYPE: Mapping[OptionType, str] = {
    OptionType.STRING: "v_text",
    OptionType.BOOLEAN: "v_text",
    OptionType.INSTANT: "mailqueue.read_instant(v_text)",
    OptionType.STRINGS: "ARRAY(SELECT jsonb_array_elements_text(o.value))",
    OptionType.OBJECT: "o.value",
    OptionType.HEADERS: "o.value",
    OptionType.FILES: "o.value",
}
"""SQL expressions by which email_from_options() reads an option, for types without a built-in one.
"""


def _case(one: MailOption) -> str:
    column = one.written_to or one.name
    return f"WHEN '{one.name}' THEN q.{column} := {VALUE_BY_TYPE[one.type]};"


_QUEUE_FUNCTIONS = (
    "claim_{}(integer, integer, interval, boolean, integer, text[], integer[])",
    "release_{}(integer, uuid[])",
    "renew_{}(uuid[], bigint[], interval)",
    "settle_{}(uuid[], bigint[], text[], text[], interval[], timestamptz[], text[], jsonb)",
    "suspect_{}(uuid[], bigint[], boolean, text)",
)
"""Functions of each queue table that a worker runs."""

_CASES = "\n            ".join(_case(one) for one in MAIL_OPTIONS if one.type in VALUE_BY_TYPE)
_BOUNDS = "\n        ".join(
    f"IF q.{one.written_to} IS NOT NULL THEN"
    f" PERFORM mailqueue.check_text('{one.name}', q.{one.written_to}, {one.max_characters});"
    " END IF;"
    for one in MAIL_OPTIONS
    if one.max_characters is not None
)
SQL_BY_MARKER: Mapping[str, str] = {
    "[[QUEUE_FUNCTIONS]]": ", ".join(
        f"mailqueue.{function.format(one.table)}" for one in QUEUES for function in _QUEUE_FUNCTIONS
    ),
    "[[HEALTH_CHECKS]]": " UNION ALL SELECT * FROM ".join(f"mailqueue.{one}()" for one in CHECKS),
    "[[HEALTH_FUNCTIONS]]": ", ".join(f"mailqueue.{one}()" for one in CHECKS),
    "[[MAIL_OPTION_CASES]]": _CASES,
    "[[MAIL_OPTION_BOUNDS]]": _BOUNDS,
}

COLUMNS_BY_MARKER: Mapping[str, tuple[str, ...]] = {
    "MAIL_COLUMNS": tuple(one.written_to for one in MAIL_OPTIONS if one.written_to is not None),
    "KEPT_COLUMNS": tuple(
        one.written_to for one in MAIL_OPTIONS if one.is_kept and one.written_to is not None
    ),
    "BOUND_COLUMNS": tuple(
        one.written_to
        for one in MAIL_OPTIONS
        if one.max_characters is not None and one.written_to is not None
    ),
}
"""Columns of email_queue: all that a producer writes as an option, those that email_history has
too, and those whose length is checked.
"""

_COLUMNS = re.compile(r"\[\[(, )?(\w+\.)?(\w+_COLUMNS)(?: BUT ([\w, \n]+))?\]\]")
"""`[[KEPT_COLUMNS]]`, `[[q.KEPT_COLUMNS]]` for columns of q, `[[KEPT_COLUMNS BUT tags, category]]`
for the others, and `[[, KEPT_COLUMNS …]]` for a list that may be empty, behind others.
"""


def _columns(match: re.Match[str]) -> str:
    comma, table, marker, named = match.groups(default="")
    but = set(re.findall(r"\w+", named))
    if unknown := but.difference(COLUMNS_BY_MARKER[marker]):
        raise ValueError(f"{match[0]}: no such column: {', '.join(sorted(unknown))}")
    listed = [f"{table}{one}" for one in COLUMNS_BY_MARKER[marker] if one not in but]
    return comma + ", ".join(listed) if listed else ""


def filled(text: str) -> str:
    """Return the text of an SQL file with its markers replaced.

    A file is applied again when a registry that it contains has changed.
    """
    if is_repeated(text):
        return repeated(text)
    if "[[" not in text:
        return text
    text = _COLUMNS.sub(_columns, text)
    for marker, words in SQL_BY_MARKER.items():
        text = text.replace(marker, words)
    for marker, rows in ROWS_BY_MARKER.items():
        if marker in text:
            text = text.replace(marker, json.dumps(rows).replace("'", "''"))
    return text
