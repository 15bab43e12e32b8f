"""The option `--against`: another version of mailqueue, a folder or a commit, to run in turn."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import click

HERE = Path(__file__).resolve().parent.parent
MAX_NAME = 12
"""Characters of a commit that names its cases."""


class VersionType(click.ParamType[Path]):
    """A folder with a checkout, or a commit, of which a temporary clone is made.

    The clone has the objects of the repository in common, and is deleted when the command ends.
    """

    name = "commit or folder"

    def __init__(self, repository: Path = HERE) -> None:
        self._repository = repository

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the folder of the version."""
        folder = Path(value)
        if folder.is_dir():
            return folder.resolve()
        done = self._git(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{value}^{{commit}}"
        )
        commit = done.stdout.strip()
        if done.returncode != 0:
            self.fail(
                f"{value!r} is neither a folder nor a commit of {self._repository}", param, ctx
            )
        parent = tempfile.TemporaryDirectory(prefix="mailqueue-bench-version-")
        (ctx or click.get_current_context()).call_on_close(parent.cleanup)
        clone = Path(parent.name) / commit[:MAX_NAME]
        for arguments in (
            ("clone", "--quiet", "--shared", "--no-checkout", str(self._repository), str(clone)),
            ("-C", str(clone), "checkout", "--quiet", "--detach", commit),
        ):
            done = self._git(*arguments)
            if done.returncode != 0:
                self.fail(f"{value!r} cannot be checked out: {done.stderr.strip()}", param, ctx)
        return clone

    def _git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["git", "-C", str(self._repository), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603


against_option = click.option(
    "--against",
    type=VersionType(),
    help="Another version of mailqueue to run in turn with this one: a commit, or a folder.",
)
"""Cases of that version follow those of this one; the report ends with their ratios."""
