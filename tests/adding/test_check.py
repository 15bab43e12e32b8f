"""A check is added in two files; the view health, doctor and the rights of a DBA have it."""

from pathlib import Path

from tests.adding.copied import Copy

HERE = Path(__file__).parent / "check"
MAX_FILES = 2
REGISTRY = "mailqueue/core/checks.py"
LAST = '    "health_of_server",\n'
RIGHTS = """\
function health_of_unused_keys() as owner
    mailqueue_dba: EXECUTE
"""


def test_a_check_is_added_in_two_files(copy: Copy) -> None:
    copy.add("sql/functions/projects/unused_keys.sql", text("idle_keys.sql"))
    copy.replace(REGISTRY, LAST, f'    "health_of_unused_keys",\n{LAST}')
    copy.add("tests/projects/test_unused.py", text("unused.py"))
    copy.insert("tests/rules/privileges.txt", RIGHTS, before="function health_of_webhooks(")

    assert len(copy.changed) <= MAX_FILES, copy.changed
    copy.pytest(
        "tests/projects/test_unused.py",
        *("tests/rules/test_privileges.py", "tests/rules/test_imports.py"),
    )


def text(name: str) -> str:
    return (HERE / name).read_text("utf-8")
