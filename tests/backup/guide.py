"""Runs the commands of the backup guide, as the user who runs PostgreSQL."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mailqueue.embedded.cluster import SUPERUSER, Cluster
from mailqueue.embedded.ports import HOST
from tests.docs.reading import blocks
from tests.whole.running import Home

PAGE = "docs/backup.md"


@dataclass(frozen=True, slots=True)
class Guide:
    """The page's blocks of `bash`, in order, on one cluster; `mailqueue` runs as the user of the
    tests.
    """

    cluster: Cluster
    folder: Path
    port: int
    home: Home

    @property
    def has_verifier(self) -> bool:
        """Return whether pg_verifybackup works: that of the wheel's 18 crashes on every backup."""
        return self.cluster.binaries.wheel is None or self.cluster.binaries.major < 18

    def run(self, *words: str, **variables: str) -> str:
        """Run the block that contains all these words; return its output."""
        [text] = [
            block.text
            for block in blocks("bash")
            if block.page == PAGE and all(word in block.text for word in words)
        ]
        said = ""
        for line in text.splitlines() if "mailqueue restored" in text else [text]:
            if line.startswith("mailqueue "):
                said += self._ours(line, variables)
            else:
                said += self._theirs(line, variables)
        return said

    def _theirs(self, text: str, variables: Mapping[str, str]) -> str:
        everything = {
            "BIN": str(self.cluster.binaries.bin),
            "PGDATA": str(self.cluster.folder),
            "BASE": str(self.folder / "base"),
            "WAL": str(self.folder / "wal"),
            "LOG": str(self.folder / "log"),
            "DUMP": str(self.folder / "dump"),
            "PGHOST": HOST,
            "PGPORT": str(self.port),
            "PGUSER": SUPERUSER,
            "PGPASSWORD": self.cluster.superuser_password(),
            **variables,
        }
        exports = "".join(f"export {name}='{value}'\n" for name, value in everything.items())
        # Its server goes on beside us: it must not hold our end of a pipe.
        said = self.folder / "said"
        script = f"exec >{said} 2>&1\nset -euo pipefail\n{exports}{text}"
        done = self.cluster.account.run(["/bin/bash", "-c", script])
        assert done.returncode == 0, f"{text}\n{said.read_text()}"
        return said.read_text()

    def _ours(self, line: str, variables: Mapping[str, str]) -> str:
        done = subprocess.run(
            ["/bin/bash", "-c", f'mailqueue() {{ "$MAILQUEUE" -m mailqueue "$@"; }}\n{line}'],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            env=self.home.environment() | {"MAILQUEUE": self.home.python} | dict(variables),
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout
