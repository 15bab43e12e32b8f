"""Quick tests wait for events: none sleeps, reads a clock that measures, or starts a process."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.needs import LONG, NEEDS, SOAK
from tests.rules.source import ROOT, files, parsed
from tests.tiers import DEEP, DEEP_PLACES, RULES

_DEEP_MARKS = {DEEP, SOAK, *NEEDS}
_CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time"}


def quick_functions(path: Path) -> Iterator[ast.AsyncFunctionDef | ast.FunctionDef]:
    """Yield the tests of a file that the quick tier may run."""
    tree = parsed(path)
    if _DEEP_MARKS & _marks(_pytestmark(tree)):
        return
    for node in tree.body:
        if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef):
            is_test = node.name.startswith("test_")
            if is_test and not _DEEP_MARKS & _marks(node.decorator_list):
                yield node


def waits(function: ast.AsyncFunctionDef | ast.FunctionDef) -> list[str]:
    """Return what in a test depends on how fast the machine is."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    return [ast.unparse(call) for call in calls if _is_sleep(call) or _is_clock(call)]


def _is_sleep(call: ast.Call) -> bool:
    if _name(call) != "sleep":
        return False
    return not (call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0)


def _is_clock(call: ast.Call) -> bool:
    of_loop = isinstance(call.func, ast.Attribute) and "loop" in ast.unparse(call.func.value)
    return _name(call) in _CLOCKS or (of_loop and _name(call) == "time")


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _pytestmark(tree: ast.Module) -> list[ast.expr]:
    return [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
    ]


def _marks(expressions: list[ast.expr]) -> set[str]:
    nodes = [node for each in expressions for node in ast.walk(each)]
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def _is_quick(path: Path) -> bool:
    place = path.relative_to(ROOT).as_posix()
    deep = (*DEEP_PLACES, RULES)
    return path.name.startswith("test_") and not any(
        place == each or place.startswith(f"{each}/") for each in deep
    )


def test_no_quick_test_sleeps_or_measures_time() -> None:
    quick = [path for path in files(".py") if ROOT / "tests" in path.parents and _is_quick(path)]
    found = [
        f"{path.relative_to(ROOT)}::{function.name}: {wait}"
        for path in quick
        for function in quick_functions(path)
        for wait in waits(function)
    ]
    assert found == []


@pytest.mark.parametrize(
    "line", ["await asyncio.sleep(0.1)", "time.sleep(wait)", "begun = time.monotonic()"]
)
def test_the_rule_sees(line: str) -> None:
    [function] = ast.parse(f"async def test_this():\n    {line}").body
    assert isinstance(function, ast.AsyncFunctionDef)
    assert waits(function)


def test_every_deep_or_long_place_exists() -> None:
    assert [each for each in DEEP_PLACES if not (ROOT / each).exists()] == []
    assert sorted(DEEP_PLACES) == list(DEEP_PLACES)
    assert [each for each in LONG if not (ROOT / each).exists()] == []


_STARTS_A_PROCESS = """
import subprocess


def test_that_starts_a_process():
    subprocess.run(["true"], check=True)
"""


_CONFTEST = """
from tests import costs, tiers


def pytest_addoption(parser):
    tiers.add_option(parser)


def pytest_configure(config):
    for plugin in (tiers, costs):
        config.pluginmanager.register(plugin)
"""


def run_suite(folder: Path, *arguments: str, **files: str) -> "subprocess.CompletedProcess[str]":
    """Run a suite of these files, by their name without suffix, sorted into tiers."""
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (folder / "conftest.py").write_text(_CONFTEST)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", f"--rootdir={folder}", *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("mark", "code"), [("", 1), ("import pytest\npytestmark = pytest.mark.deep\n", 0)]
)
def test_a_quick_test_that_starts_a_process_fails(mark: str, code: int, tmp_path: Path) -> None:
    done = run_suite(tmp_path, "test_suite.py", test_suite=mark + _STARTS_A_PROCESS)

    assert done.returncode == code
    assert ("subprocess.Popen: mark this test deep" in done.stdout) is bool(code)


def test_a_deep_run_imports_no_file_without_deep_tests(tmp_path: Path) -> None:
    quick = "raise AssertionError('imported')\n"
    deep = "import pytest\n\n\n@pytest.mark.deep\ndef test_that_is_deep():\n    pass\n"
    done = run_suite(tmp_path, "--deep", test_quick=quick, test_deep=deep)

    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_a_file_that_hides_its_deep_tests_is_refused(tmp_path: Path) -> None:
    marks = "import pytest\n\nslow = pytest.mark.deep\n"
    suite = "from marks import slow\n\n\n@slow\ndef test_that_is_deep():\n    pass\n"
    done = run_suite(tmp_path, "test_suite.py", marks=marks, test_suite=suite)

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "test_suite.py has deep tests and no line with mark.deep" in done.stderr


_USES_A_SERVER = """
import subprocess
import sys

import pytest
from tests import costs

WORK = "import time\\nwhile time.process_time() < 1.0: pass"
pytestmark = pytest.mark.deep


@pytest.fixture(scope="session")
def server():
    process = subprocess.Popen([sys.executable, "-c", WORK])
    yield
    with costs.ending_server():
        process.wait()


def test_that_is_first(server):
    pass


def test_that_is_last(server):
    pass
"""


def test_the_last_test_does_not_pay_for_the_server_of_the_run(tmp_path: Path) -> None:
    done = run_suite(tmp_path, "--deep", test_suite=_USES_A_SERVER)

    assert done.returncode == 0, done.stdout
    cpu = done.stdout.partition("CPU time of the tests")[2]
    tests, server, *_ = re.findall(r"^ +([0-9.]+) s ", cpu, re.MULTILINE)
    assert float(server) >= 1.0
    assert float(tests) < 1.0
