"""Registries of the program whose rows the database keeps too, as JSON within SQL files."""

import json
from collections.abc import Mapping
from typing import Any

from mailqueue.core.providers import PROVIDERS
from mailqueue.core.retained import RETAINED, Leaves, Privacy

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
    "[[RETAINED]]": [
        {
            "kind": one.kind,
            "table_name": one.table,
            "time_column": one.time_column,
            "ended_column": one.ended_column,
            "is_archived": one.is_archived,
            "is_swept": one.leaves is Leaves.SWEPT,
            "is_global": one.is_global,
            "days": one.days,
            "cold_days": one.cold_days,
            "keep_days": one.keep_days if one.is_archived else one.days,
        }
        for one in RETAINED
    ],
    "[[DELETED_WITH_A_PERSON]]": [one.table for one in RETAINED if one.privacy is Privacy.DELETE],
}


def filled(text: str) -> str:
    """Return the text of an SQL file with its markers replaced by the rows they stand for.

    A file is so applied again where a registry has changed.
    """
    for marker, rows in ROWS_BY_MARKER.items():
        if marker in text:
            text = text.replace(marker, json.dumps(rows).replace("'", "''"))
    return text
