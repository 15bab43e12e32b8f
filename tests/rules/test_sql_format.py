"""SQL has lines of at most 120 columns, migrations excepted."""

from collections.abc import Iterable
from pathlib import Path

from tests.rules.source import ROOT

MAX_COLUMNS = 120


def wide_lines(paths: Iterable[Path]) -> list[str]:
    """Return `file:line` of each line with more than `MAX_COLUMNS` characters."""
    return [
        f"{path.name}:{number} has {len(line)} columns"
        for path in sorted(paths)
        for number, line in enumerate(path.read_text("utf-8").split("\n"), start=1)
        if len(line) > MAX_COLUMNS
    ]


def test_lines_of_sql_have_at_most_120_columns() -> None:
    folder = ROOT / "sql"
    # A migration that was applied never changes, so those stay as they were written.
    paths = [path for path in folder.glob("**/*.sql") if path.parent.name != "migrations"]

    assert len(paths) > 100
    assert wide_lines(paths) == []


def test_a_wide_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "wide.sql"
    path.write_text(f"SELECT 1;\n-- {'x' * 117}\n-- {'x' * 118}\n")

    assert wide_lines([path]) == ["wide.sql:3 has 121 columns"]
