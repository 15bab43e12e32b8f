"""The environment of a checkout works with any path and locale, and is not deleted."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rules.source import ROOT

LOCALES = ("C", "C.UTF-8", "de_DE.ISO-8859-1")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The scripts in a folder with a name beyond ASCII, with an environment and no packages."""
    copy = tmp_path / "Übung \u4e2d"
    shutil.copytree(ROOT / "scripts", copy / "scripts")
    shutil.copytree(ROOT / "requirements", copy / "requirements")
    venv = [sys.executable, "-m", "venv", "--without-pip", str(copy / ".venv")]
    subprocess.run(venv, check=True)
    command = copy / "mailqueue" / "cli"
    command.mkdir(parents=True)
    (command / "main.py").write_text("def main():\n    print('the command runs')\n")
    return copy


def shell(checkout: Path, words: str, locale: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f'. "$0/scripts/lib/environment.sh"; {words}', checkout],
        env={"PATH": os.environ["PATH"], "LC_ALL": locale},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def installed(checkout: Path, locale: str = "C.UTF-8") -> None:
    written = 'link_project; stamp runtime >"$environment/installed-runtime"'
    done = shell(checkout, written, locale)
    assert done.returncode == 0, done.stderr


def link(checkout: Path) -> Path:
    (found,) = (checkout / ".venv" / "lib").glob("python3*/site-packages/mailqueue-checkout.pth")
    return found


@pytest.mark.parametrize("made_in", LOCALES)
@pytest.mark.parametrize("run_in", LOCALES)
def test_the_command_runs_in_every_locale(checkout: Path, made_in: str, run_in: str) -> None:
    installed(checkout, made_in)

    again = shell(checkout, "ensure_environment runtime", run_in)
    done = subprocess.run(
        [checkout / ".venv" / "bin" / "mailqueue"],
        env={"LC_ALL": run_in}, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip

    assert again.returncode == 0
    assert "making" not in again.stderr
    assert "installing" not in again.stderr
    assert done.stdout == "the command runs\n", done.stderr
    assert link(checkout).read_bytes().isascii()


def test_an_environment_of_before_is_linked_anew_and_not_made_anew(checkout: Path) -> None:
    """Its path stands in the .pth file as it is: no Python of it starts in the locale C."""
    installed(checkout)
    link(checkout).write_text(f"{checkout}\n", "utf-8")

    done = shell(checkout, "ensure_environment runtime", "C")

    assert (done.returncode, done.stderr) == (0, "")
    assert link(checkout).read_text().startswith("import ")


@pytest.fixture
def running(checkout: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server that runs from the environment."""
    python = checkout / ".venv" / "bin" / "python"
    process = subprocess.Popen([python, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_an_environment_in_use_is_not_taken_away(
    checkout: Path, running: subprocess.Popen[bytes]
) -> None:
    (checkout / ".venv" / "bin" / "activate").write_text("made elsewhere")

    done = shell(checkout, "ensure_environment runtime", "C")

    assert done.returncode == 1
    assert f"and process {running.pid} runs from it: stop that first" in done.stderr
    assert (checkout / ".venv" / "bin" / "python").exists()
