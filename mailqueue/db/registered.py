"""Registries of the program whose rows the database keeps too, as JSON within SQL files."""

import json
from collections.abc import Mapping
from typing import Any

from mailqueue.core.providers import PROVIDERS

ROWS_BY_MARKER: Mapping[str, list[dict[str, Any]]] = {
    "[[PROVIDERS]]": [
        {
            "name": one.value,
            "label": one.facts.label,
            "has_api": one.facts.has_api,
            "sends_events": one.facts.sends_events,
        }
        for one in PROVIDERS
    ],
}


def filled(text: str) -> str:
    """Return the text of an SQL file with its markers replaced by the rows they stand for.

    A file is so applied again where a registry has changed.
    """
    for marker, rows in ROWS_BY_MARKER.items():
        if marker in text:
            text = text.replace(marker, json.dumps(rows).replace("'", "''"))
    return text
