"""A consumer of events is added in three files; it is called once for each event."""

from pathlib import Path

from tests.adding.copied import Copy

HERE = Path(__file__).parent / "consumer"
MAX_FILES = 3
LAST_CONSUMER = """\
    Consumer(
        name="outboxes",
"""
ROW = """\
    Consumer(
        name="failures",
        work="suppressions of addresses whose mail failed",
        types=("email.failed",),
        handler="suppress_failed",
    ),
"""
SHOW_NAMES = (
    "from mailqueue.cli.stream.consumers import replay; print(replay.params[0].type.choices)"
)
"""Prints the names that `mailqueue consumers replay` takes."""
RIGHT = "function suppress_failed(p_numbers bigint[])\n"


def test_a_consumer_is_added_in_three_files(copy: Copy) -> None:
    copy.replace("mailqueue/core/consumers.py", LAST_CONSUMER, ROW + LAST_CONSUMER)
    copy.add("sql/functions/suppression/failed.sql", (HERE / "failed.sql").read_text("utf-8"))
    copy.insert("tests/rules/privileges.txt", RIGHT, before="function suppress_new(")
    copy.add("tests/suppression/test_failures.py", (HERE / "failures.py").read_text("utf-8"))

    assert len(copy.changed) <= MAX_FILES, copy.changed
    copy.pytest(
        "tests/suppression/test_failures.py",
        *("tests/rules/test_privileges.py", "tests/rules/test_imports.py"),
    )
    assert "failures" in copy.run("-c", SHOW_NAMES)
