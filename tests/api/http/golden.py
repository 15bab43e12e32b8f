"""The OpenAPI document as recorded in `openapi.json`, in one file to review.

`python -m tests.api.http.golden` prints what differs, and with `--write` writes the file anew.
"""

import difflib
import json
import sys
from pathlib import Path
from typing import Any

from mailqueue.api.http.openapi.document import openapi
from mailqueue.api.table import ENDPOINTS

FILE = Path(__file__).with_name("openapi.json")
LINE_LENGTH = 100
UPDATE = "python -m tests.api.http.golden --write"


def canonical(document: Any) -> str:
    """Return a document as text: keys and lists of required fields sorted, without our version."""
    ordered = _ordered(document)
    ordered["info"].pop("version")
    return _written(ordered) + "\n"


def difference(expected: str, found: str) -> str:
    """Return the lines in which two texts differ."""
    lines = difflib.unified_diff(
        expected.splitlines(), found.splitlines(), FILE.name, "the API", n=2, lineterm=""
    )
    return "\n".join(lines)


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        found = {name: _ordered(value[name]) for name in sorted(value)}
        if isinstance(found.get("required"), list):
            found["required"] = sorted(found["required"])
        return found
    return [_ordered(each) for each in value] if isinstance(value, list) else value


def _written(value: Any, level: int = 0) -> str:
    """Return JSON in which a value that fits on one line is written on one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + level <= LINE_LENGTH or not isinstance(value, (dict, list)):
        return line
    if isinstance(value, dict):
        parts = [f"{json.dumps(name)}: {_written(each, level + 1)}" for name, each in value.items()]
    else:
        parts = [_written(each, level + 1) for each in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    inner, outer = "\n" + " " * (level + 1), "\n" + " " * level
    return f"{opening}{inner}{f',{inner}'.join(parts)}{outer}{closing}"


def main() -> None:
    found = canonical(openapi(ENDPOINTS))
    if "--write" in sys.argv[1:]:
        FILE.write_text(found, "utf-8")
    else:
        sys.stdout.write(difference(FILE.read_text("utf-8"), found) + "\n")


if __name__ == "__main__":
    main()
