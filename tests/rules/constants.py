"""Makes `mailqueue/db/statements`: a constant for each statement of `sql/queries`.

`python -m tests.rules.constants --write` writes its files anew.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap

from mailqueue.db.sql import KINDS
from tests.rules.source import PACKAGE, ROOT

UPDATE = "python -m tests.rules.constants --write"
FOLDER = PACKAGE / "db" / "statements"
QUERIES = ROOT / "sql" / "queries"
_STATEMENT = re.compile(r"-- name: (\w+) :(\w+)\n((?:--.*\n)+)")
_WIDTH = 100


def module_of(path: Path, queries: Path = QUERIES) -> Path:
    """Return the place of the constants of a file: `watch.sql` beside `watch/` is in that folder.

    Pure but for the look at the folder.
    """
    inside = path.relative_to(queries).with_suffix(".py")
    return inside.with_suffix("") / inside.name if path.with_suffix("").is_dir() else inside


def constants(text: str, place: str) -> str:
    """Return the module with the constants of a file's statements. Pure."""
    found = list(_STATEMENT.finditer(text))
    kinds = ", ".join(sorted({KINDS[each[2]].__name__ for each in found}))
    lines = [f'"""The statements of {place}."""', ""]
    lines += [f"from mailqueue.db.sql import {kinds}", "", f"# Written by {UPDATE}", ""]
    for each in found:
        line = text.count("\n", 0, each.start()) + 1
        made = f'{each[1].upper()} = {KINDS[each[2]].__name__}.named("{each[1]}")'
        lines += [made, *_docstring(each[3], f"{place}:{line}")]
    return "\n".join(lines) + "\n"


def made(queries: Path = QUERIES) -> dict[str, str]:
    """Return the text of each file, by its place in `mailqueue/db/statements`."""
    files = {"__init__.py": ""}
    for path in sorted(queries.rglob("*.sql")):
        module = module_of(path, queries)
        files[(module.parent / "__init__.py").as_posix()] = ""
        place = f"sql/queries/{path.relative_to(queries).as_posix()}"
        files[module.as_posix()] = constants(path.read_text("utf-8"), place)
    return files


def stored(folder: Path = FOLDER) -> Mapping[str, str]:
    """Return the text of each file that is there, by its place."""
    paths = folder.rglob("*.py")
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}


def differing(expected: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """Return the places of files that are missing, superfluous or other than expected. Pure."""
    return sorted(p for p in {*expected, *found} if expected.get(p) != found.get(p))


def write(folder: Path = FOLDER) -> None:
    """Write the files that differ, and remove those without a file of statements."""
    expected = made()
    for place in differing(expected, stored(folder)):
        path = folder / place
        if place not in expected:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(expected[place], "utf-8")


def _docstring(comment: str, place: str) -> Iterator[str]:
    said = " ".join(line.removeprefix("--").strip() for line in comment.splitlines())
    said = said.replace("\\", "\\\\").replace('"""', "'''")
    whole = f"{place}: {said}"
    if len(whole) + 6 <= _WIDTH and not whole.endswith('"'):
        yield f'"""{whole}"""'
    else:
        yield from ('"""' + wrap_text for wrap_text in wrap(whole, _WIDTH - 3)[:1])
        yield from wrap(whole, _WIDTH - 3)[1:]
        yield '"""'


if __name__ == "__main__" and "--write" in sys.argv:
    write()
