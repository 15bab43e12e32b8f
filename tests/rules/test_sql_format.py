"""SQL has lines of at most 120 columns and functions that fit on a page, migrations excepted."""

import re
from collections.abc import Iterable
from pathlib import Path

from tests.rules.source import ROOT

MAX_COLUMNS = 120
MAX_FUNCTION_LINES = 80
LONG_FUNCTIONS = {
    "why": 200,
    "prepare_email": 174,
    "health_of_server": 167,
    "domain_letters": 162,
    "health_of_mail": 153,
    "project_with": 153,
    "matches": 150,
    "email_queue_accept": 144,
    "settle_emails": 144,
    "continue_schedule_run": 141,
    "gather_lanes": 139,
    "list_emails": 129,
    "read_schedule": 127,
    "accept_batch": 115,
    "accept_shared": 115,
    "fire_schedules": 110,
    "claim_suspect": 109,
    "erase_mail": 103,
    "put_contact": 98,
    "accept_raw": 93,
    "gauges": 88,
    "match_events": 87,
    "fold_stats": 85,
    "publish": 85,
    "record_events": 85,
    "enroll_contact": 84,
    "headroom": 84,
    "return_claims": 83,
    "add_ab_test_recipients": 82,
}
"""Functions with more lines, and how many they may have; they may become shorter only."""
FUNCTION = re.compile(
    r"CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE) (?:mailqueue\.)?([\w\[\]]+)"
    r"(?:(?!\nCREATE ).)*?(\$\w*\$).*?\2;",
    re.DOTALL,
)


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


def long_functions(text: str) -> dict[str, int]:
    """Return the lines of each function that has more than `MAX_FUNCTION_LINES`, by its name."""
    counts = {one[1]: one[0].count("\n") + 1 for one in FUNCTION.finditer(text)}
    return {name: lines for name, lines in counts.items() if lines > MAX_FUNCTION_LINES}


def test_functions_fit_on_a_page_and_long_ones_do_not_grow() -> None:
    paths = sorted((ROOT / "sql" / "functions").glob("**/*.sql"))
    texts = [path.read_text("utf-8") for path in paths]
    found = {name: lines for text in texts for name, lines in long_functions(text).items()}

    assert sum(len(FUNCTION.findall(text)) for text in texts) > 1000
    assert {n: k for n, k in found.items() if k > LONG_FUNCTIONS.get(n, 0)} == {}
    assert set(LONG_FUNCTIONS) - set(found) == set(), "these are short: remove them from the list"


def test_a_long_function_is_named() -> None:
    short = "CREATE FUNCTION a() RETURNS void AS $$ BEGIN END $$;\n"
    long = short.replace("a()", "mailqueue.b()").replace("BEGIN", "BEGIN" + "\n" * 80)

    assert long_functions(short + long) == {"b": 81}
