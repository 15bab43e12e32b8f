"""The steps of the Dockerfile, in virtual environments: no container engine is here."""

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.deploy.test_containers import DOCKERFILE
from tests.rules.source import ROOT

SECONDS = 600


def stages() -> tuple[str, str]:
    """Return the two stages of the Dockerfile, as text."""
    build, final = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]
    return build, final


def copy(stage: str, folder: Path) -> None:
    """Do what COPY does in a stage."""
    for names, target in re.findall(r"^COPY (.+) (\S+)$", stage, re.MULTILINE):
        for name in names.split():
            source = ROOT / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, folder / target, ignore=ignored)
            else:
                path = folder / target / name if target.endswith("/") else folder / target
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, path)


def run_pip(stage: str, folder: Path, environment: Path, wheels: Path) -> None:
    """Run the commands of pip of a stage for a virtual environment that has no pip of its own."""
    commands = re.findall(r"^RUN .*?(pip .+)$", stage, re.MULTILINE)
    assert commands
    for command in commands:
        subprocess.run(
            ["sh", "-ec", command.replace("/wheels", str(wheels))],
            check=True,
            cwd=folder,
            env={
                **os.environ,
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "PIP_PYTHON": str(environment / "bin" / "python"),
                "PIP_NO_COMPILE": "1",  # ten thousand modules, of which few are imported here
            },
            timeout=SECONDS,
        )


@pytest.mark.timeout(SECONDS + 300)
def test_the_steps_of_the_image_make_a_program_that_runs_and_has_its_sql(tmp_path: Path) -> None:
    build, final = stages()
    source, wheels = tmp_path / "src", tmp_path / "wheels"
    source.mkdir()
    for name in ("build", "final"):
        venv.create(tmp_path / name)

    copy(build, source)
    run_pip(build, source, tmp_path / "build", wheels)
    shutil.rmtree(source)
    run_pip(final, tmp_path, tmp_path / "final", wheels)

    [entry] = re.findall(r'^ENTRYPOINT \["python", (.+)\]$', final, re.MULTILINE)
    words = [each.strip(' "') for each in entry.split(",")]
    python = tmp_path / "final" / "bin" / "python"
    environment = {"HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    shown = subprocess.run(
        [str(python), *words, "--help"],
        check=True, capture_output=True, text=True, cwd="/", env=environment, timeout=SECONDS,
    )  # fmt: skip
    assert "worker" in shown.stdout
    located = "import mailqueue.db.sql as s; print(s.sql_folder())"
    folder = subprocess.run(
        [str(python), "-P", "-c", located],
        check=True, capture_output=True, text=True, cwd="/", env=environment, timeout=SECONDS,
    ).stdout.strip()  # fmt: skip
    assert Path(folder).is_relative_to(tmp_path / "final")
    assert (Path(folder) / "migrations").is_dir()
    assert sys.prefix not in folder
