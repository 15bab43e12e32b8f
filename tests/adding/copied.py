"""A copy of the checkout to which a test adds something by its guide, and counts the files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import TEMPLATE
from tests.rules.source import ROOT

_LEFT_OUT = shutil.ignore_patterns("node_modules", ".*", "build", "dist", "site", "data")
"""Compiled modules are copied: each process in a copy would compile a thousand files anew."""
_FREE = ("tests/", "docs/", "README.md", "CHANGELOG.md")
_SECONDS = 240
_PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")


class Copy:
    """A copy of the checkout in a folder of the test; its tests use the server of the run.

    `server` is the connection string of a superuser, `migrated` the name of a database there.
    """

    def __init__(self, folder: Path, server: str, migrated: str) -> None:
        self.root = folder / "checkout"
        self._server, self._migrated = server, migrated
        shutil.copytree(ROOT, self.root, ignore=_LEFT_OUT)
        self.changed: list[str] = []
        """Files that were added or edited, beside those of tests and documentation."""

    def add(self, path: str, text: str) -> None:
        """Add a file."""
        file = self.root / path
        assert not file.exists(), f"{path} is there already"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        self._count(path)

    def insert(self, path: str, text: str, *, before: str) -> None:
        """Insert lines before the first line that begins with a text, apart from its
        indentation.
        """
        file = self.root / path
        lines = file.read_text("utf-8").splitlines(keepends=True)
        found = [n for n, line in enumerate(lines) if line.strip().startswith(before)]
        assert found, f"no line of {path} begins with {before!r}"
        lines.insert(found[0], text)
        file.write_text("".join(lines), "utf-8")
        self._count(path)

    def replace(self, path: str, old: str, new: str) -> None:
        """Replace a text that occurs once in a file."""
        file = self.root / path
        text = file.read_text("utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path}"
        file.write_text(text.replace(old, new), "utf-8")
        self._count(path)

    def next_migration(self) -> int:
        """Return the number after that of the last migration."""
        return max(int(file.name[:4]) for file in self.root.glob("sql/migrations/*.sql")) + 1

    def _count(self, path: str) -> None:
        if not path.startswith(_FREE) and path not in self.changed:
            self.changed.append(path)

    def run(self, *arguments: str) -> str:
        """Run Python in the copy; return what it prints.

        Raises:
            AssertionError: it failed; with its output.
        """
        done = self._run(*arguments)
        assert done.returncode == 0, f"{done.stdout[-8000:]}\n{done.stderr[-2000:]}"
        return done.stdout

    def pytest(self, *arguments: str) -> str:
        """Run tests of the copy."""
        return self.run(*_PYTEST, "-x", *arguments)

    def failing(self, *tests: str) -> set[str]:
        """Run tests of the copy; return those that fail, without their parameters.

        Raises:
            AssertionError: one could not be run to its end; with the output.
        """
        done = self._run(*_PYTEST, "--tb=short", *tests)
        lines = done.stdout.rpartition("short test summary info")[2].splitlines()
        are_run = done.returncode in (0, 1) and not any(line.startswith("ERROR ") for line in lines)
        assert are_run, f"{done.stdout[-8000:]}\n{done.stderr[-2000:]}"
        failed = (line.removeprefix("FAILED ") for line in lines if line.startswith("FAILED "))
        return {line.split(" - ")[0].split("[")[0] for line in failed}

    def _run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        given = {
            "PYTHONPATH": str(self.root),
            "MAILQUEUE_TEST_DSN": self._server,
            TEMPLATE: self._migrated,
        }
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env=os.environ | given,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
