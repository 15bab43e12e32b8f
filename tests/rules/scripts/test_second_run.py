"""`scripts/test` runs tests that failed once more, and says which of them were unsteady."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.rules.source import ROOT

# Each test of these suites leaves a file, by which it knows whether it has run before.
_ONCE = """
import os
from pathlib import Path

import pytest


def has_run(name):
    seen = Path(__file__).with_name(name)
    before = seen.exists()
    seen.touch()
    return before


def test_that_passes():
    pass
"""
_FAILS_ONCE = """
def test_that_fails_once():
    assert has_run("once")
"""
_FAILS = """
def test_that_fails():
    assert has_run("always") and False
"""
_KILLS_ITS_PROCESS_ONCE = """
def test_that_kills_its_process_once():
    if not has_run("killed"):
        os._exit(1)
"""
_KILLS_ITS_PROCESS = """
def test_that_kills_its_process():
    os._exit(1)
"""
_CANNOT_BE_SET_UP_ONCE = """
@pytest.fixture
def broken():
    assert has_run("set-up")


def test_without_a_set_up(broken):
    pass
"""


def many(count: int) -> str:
    return f"""
@pytest.mark.parametrize("number", range({count}))
def test_of_many(number):
    assert has_run(f"many-{{number}}")
"""


def run(path: Path, *arguments: str) -> tuple[int, list[str]]:
    """Run tests by the script; return its exit code and the lines it prints."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "MAILQUEUE_"))
    }
    command = [str(ROOT / "scripts" / "test"), str(path), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


def judged(
    folder: Path, *parts: str, arguments: tuple[str, ...] = ("-n", "1")
) -> tuple[int, list[str]]:
    """Run a suite; return the exit code and the tests that are called unsteady.

    The tests of a file go to one process, so that others would have nothing to do.
    """
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_suite.py").write_text(_ONCE + "\n".join(parts))
    code, lines = run(folder / "test_suite.py", *arguments)
    return code, [line for line in lines if line.startswith("unsteady: ")]


def test_what_fails_once_is_named_and_fails_nothing(tmp_path: Path) -> None:
    code, unsteady = judged(tmp_path, _FAILS_ONCE, _CANNOT_BE_SET_UP_ONCE)

    assert code == 0
    assert unsteady == [
        "unsteady: test_suite.py::test_that_fails_once",
        "unsteady: test_suite.py::test_without_a_set_up",
    ]


def test_what_fails_twice_fails_the_run(tmp_path: Path) -> None:
    assert judged(tmp_path, _FAILS_ONCE, _FAILS) == (1, [])


def test_a_process_that_was_killed_is_a_failure_of_its_test(tmp_path: Path) -> None:
    code, unsteady = judged(tmp_path, _KILLS_ITS_PROCESS_ONCE)

    assert code == 0
    assert unsteady == ["unsteady: test_suite.py::test_that_kills_its_process_once"]


def test_a_process_that_is_killed_twice_fails_the_run(tmp_path: Path) -> None:
    code, unsteady = judged(tmp_path, _KILLS_ITS_PROCESS)

    assert code != 0
    assert unsteady == []


def test_ten_failures_run_again(tmp_path: Path) -> None:
    code, unsteady = judged(tmp_path, many(10))

    assert code == 0
    assert len(unsteady) == 10


def test_more_failures_than_ten_fail_the_run_at_once(tmp_path: Path) -> None:
    assert judged(tmp_path, many(11)) == (1, [])
    assert not any(judged(tmp_path, many(11)))  # each was tried once before: now all pass


@pytest.mark.parametrize("argument", ["-x", "--maxfail=1"])
def test_a_run_that_ended_early_is_not_passed_by_its_first_failure(
    argument: str, tmp_path: Path
) -> None:
    code, unsteady = judged(tmp_path, _FAILS_ONCE, _FAILS, arguments=(argument, "-n", "0"))

    assert code != 0
    assert unsteady == []


def test_the_projects_own_tests_run_by_the_projects_configuration() -> None:
    _, shown = run(ROOT / "tests" / "rules" / "test_guards.py", "--collect-only", "-n", "0")

    assert f"rootdir: {ROOT}" in shown
    assert "configfile: pyproject.toml" in shown
