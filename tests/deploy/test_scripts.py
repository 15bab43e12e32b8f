"""The scripts of `deploy` refuse root, and write what monitoring reads."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.rules.source import ROOT

DEPLOY = ROOT / "deploy"
FOR_OTHERS = ("certificates.sh", "pgbackrest/backup.sh")


@pytest.mark.parametrize("name", FOR_OTHERS)
def test_a_script_of_another_user_does_not_run_as_root(name: str) -> None:
    """In a folder of another user root would follow that user's links."""
    text = (DEPLOY / name).read_text()

    assert re.search(r'^\[ "\$\(id -u\)" != 0 \] \|\| \{ .*; exit 2; \}$', text, re.MULTILINE)
    if os.geteuid() == 0:
        done = subprocess.run([DEPLOY / name], capture_output=True, check=False, cwd="/")
        assert (done.returncode, b"not as root" in done.stderr) == (2, True)


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("*.sh")), ids=lambda path: path.name)
def test_a_script_is_valid_and_can_be_run(path: Path) -> None:
    done = subprocess.run(["sh", "-n", path], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert os.access(path, os.X_OK)
    assert path.read_text().splitlines()[0] == "#!/bin/sh"
    assert "\nset -eu\n" in path.read_text()
