"""Lists the tests of a run that failed, and runs those alone: `scripts/test` runs few once more."""

from functools import cached_property
from pathlib import Path

import pytest

LIST = "--failed-to"
AGAIN = "--failed-in"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    parser.addoption(LIST, type=Path, help="write the ids of failed tests to this file")
    parser.addoption(AGAIN, type=Path, help="run only tests whose ids are in this file")


def pytest_configure(config: pytest.Config) -> None:
    """Follow the reports, in the main process of a parallel run, or choose the tests."""
    if (path := config.getoption(LIST)) is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Failures(path), "failures")
    if (path := config.getoption(AGAIN)) is not None:
        config.pluginmanager.register(_Again(config.rootpath, path), "again")


class _Failures:
    """The tests that failed so far. Mutable."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ids: dict[str, None] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure of a test or of its set-up; of a process that died, the test it ran."""
        if report.failed:
            self._ids[report.nodeid] = None

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the list, unless the run ended before its last test."""
        if not session.shouldfail and not session.shouldstop:
            self._path.write_text("".join(f"{each}\n" for each in self._ids), "utf-8")


class _Again:
    """The tests to run."""

    def __init__(self, root: Path, path: Path) -> None:
        self._root = root
        self._ids = path.read_text("utf-8").splitlines()

    @cached_property
    def _files(self) -> set[Path]:
        return {self._root / each.partition("::")[0] for each in self._ids}

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out files without a chosen test."""
        is_file = collection_path.is_file()
        return True if is_file and collection_path not in self._files else None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Choose the tests.

        Raises:
            pytest.UsageError: one of them does not exist.
        """
        chosen = set(self._ids)
        if lacking := chosen - {item.nodeid for item in items}:
            raise pytest.UsageError(f"{AGAIN}: no such test: {min(lacking)}")
        config.hook.pytest_deselected(items=[each for each in items if each.nodeid not in chosen])
        items[:] = [item for item in items if item.nodeid in chosen]
