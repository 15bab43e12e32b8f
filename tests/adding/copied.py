"""A copy of the checkout to which a test adds something by its guide, and counts the files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.rules.source import ROOT

_LEFT_OUT = shutil.ignore_patterns(
    "__pycache__", "node_modules", ".*", "build", "dist", "site", "data"
)
_FREE = ("tests/", "docs/", "README.md", "CHANGELOG.md")
_SECONDS = 240


class Copy:
    """A copy of the checkout in a folder of the test."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
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
        environment = {**os.environ, "PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout[-8000:]}\n{done.stderr[-2000:]}"
        return done.stdout

    def pytest(self, *arguments: str) -> str:
        """Run tests of the copy."""
        return self.run("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments)
