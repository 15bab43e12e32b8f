"""The scripts run from any folder, and report what they need."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.rules.source import ROOT

SCRIPTS = [
    *(path for path in (ROOT / "scripts").iterdir() if path.is_file() and path.suffix != ".py"),
    ROOT / ".ci" / "run",
]
LIBRARY = ROOT / "scripts" / "lib" / "environment.sh"
# Commands the scripts use before there is a Python of ours.
_TOOLS = ("bash", "dirname", "cat", "cmp", "grep", "rm", "flock")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_can_be_run_and_stops_at_the_first_failure(script: Path) -> None:
    text = script.read_text("utf-8")

    assert os.access(script, os.X_OK)
    assert text.startswith("#!/usr/bin/env bash\n# ")
    assert "\nset -euo pipefail\n" in text


@pytest.mark.parametrize("script", [*SCRIPTS, LIBRARY], ids=lambda path: path.name)
def test_a_script_is_well_formed(script: Path) -> None:
    subprocess.run(["bash", "-n", str(script)], check=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the scripts in a folder whose name has a space, without the rest of the project."""
    copy = tmp_path / "a copy"
    shutil.copytree(ROOT / "scripts", copy / "scripts")
    shutil.copytree(ROOT / "requirements", copy / "requirements")
    return copy


def tools(tmp_path: Path, **programs: str) -> Path:
    """A folder for PATH with the usual tools and these programs, each one line of shell."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in _TOOLS:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    for name, line in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(0o755)
    return folder


def started(checkout: Path, path: Path) -> subprocess.CompletedProcess[str]:
    command = [str(checkout / "scripts" / "start"), "--json"]
    environment = {"PATH": str(path)}  # no HOME either
    return subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True)


def test_an_old_python_is_refused_with_the_version_needed(checkout: Path, tmp_path: Path) -> None:
    old = 'if [ "$1" = --version ]; then echo "Python 3.9.2"; else exit 1; fi'

    done = started(checkout, tools(tmp_path, python3=old))

    assert done.returncode == 1
    assert done.stdout == ""
    assert (
        done.stderr == "error: mailqueue needs Python 3.11 or newer; python3 here is Python 3.9.2\n"
    )


def test_a_python_without_venv_names_the_package_that_brings_it(
    checkout: Path, tmp_path: Path
) -> None:
    bare = 'case "$2" in *ensurepip*) exit 1;; esac'

    done = started(checkout, tools(tmp_path, python3=bare))

    assert done.returncode == 1
    assert "apt-get install python3-venv" in done.stderr
    assert not (checkout / ".venv").exists()


def test_an_environment_from_elsewhere_is_made_anew(checkout: Path, tmp_path: Path) -> None:
    """A copied or moved .venv still points to where it was created."""
    moved = checkout / ".venv" / "bin"
    moved.mkdir(parents=True)
    (moved / "activate").write_text('VIRTUAL_ENV="/elsewhere/.venv"\n')
    (moved / "python").write_text("#!/bin/sh\nexit 0\n")
    (moved / "python").chmod(0o755)
    no_venv = 'case "$2" in -m|"") exit 1;; esac; [ "$1" = -m ] && exit 1; exit 0'

    done = started(checkout, tools(tmp_path, python3=no_venv))

    assert "making a private Python environment" in done.stderr
    assert not moved.exists()
