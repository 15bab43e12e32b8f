"""The samples for cron and systemd use valid commands, and leave time to drain."""

import configparser
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from mailqueue.core.services.model import Service
from mailqueue.core.services.registry import LISTENERS, SERVICES
from mailqueue.maintenance.model import Task
from mailqueue.process.child import DRAIN_SECONDS
from tests.docs.test_commands import accepts
from tests.rules.source import ROOT

SAMPLES = ROOT / "docs" / "samples"
UNITS = sorted((SAMPLES / "systemd").iterdir())
CRON_LINE = re.compile(r"((?:[\d*/,-]+\s+){5})(\w+)\s+(.+)")
SCRIPTS = sorted((ROOT / "scripts").glob("*.py"))


def unit(path: Path) -> configparser.ConfigParser:
    found = configparser.ConfigParser(interpolation=None, strict=False)
    found.optionxform = str  # type: ignore[assignment,method-assign]
    found.read_string(path.read_text("utf-8"))
    return found


def commands(line: str) -> list[list[str]]:
    """Return the arguments of each `mailqueue` call in a line."""
    parts = re.split(r"\|\||&&|;|>\S+", line)
    words = [shlex.split(part) for part in parts]
    return [each[1:] for each in words if each and each[0].rpartition("/")[2] == "mailqueue"]


def test_every_line_of_the_crontab_is_one_of_ours() -> None:
    lines = (SAMPLES / "crontab").read_text("utf-8").splitlines()
    found = [CRON_LINE.fullmatch(line) for line in lines if line[:1] in "*0123456789" and line]

    assert found
    assert None not in found
    for line in found:
        assert line is not None
        assert commands(line[3])
        for arguments in commands(line[3]):
            accepts(arguments)


def test_the_crontab_does_every_task() -> None:
    text = (SAMPLES / "crontab").read_text("utf-8")
    named = {word for line in re.findall(r"mailqueue maintain (.+)", text) for word in line.split()}

    assert named == set(Task)


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_starts_what_there_is(path: Path) -> None:
    found = unit(path)

    assert found["Unit"]["Description"]
    if path.suffix == ".service":
        [arguments] = commands(found["Service"]["ExecStart"])
        accepts(arguments)
    else:
        assert path.with_suffix(".service") in UNITS
        assert found["Install"]["WantedBy"] == "timers.target"


@pytest.mark.parametrize(
    "one", [one for one in SERVICES if one.unit is not None], ids=lambda one: one.name
)
def test_a_service_waits_for_readiness_and_for_the_drain(one: Service) -> None:
    service = unit(SAMPLES / "systemd" / f"{one.unit}.service")["Service"]

    assert service["Type"] == "notify"
    assert service["KillMode"] == "mixed"  # SIGTERM to the parent alone, which drains its children
    assert int(service["WatchdogSec"]) > 0
    if one not in LISTENERS:
        assert int(service["TimeoutStopSec"]) > DRAIN_SECONDS


@pytest.mark.systemd
def test_systemd_understands_the_units(tmp_path: Path) -> None:
    for path in UNITS:
        text = path.read_text("utf-8").replace("/opt/mailqueue/.venv/bin/mailqueue", "/bin/true")
        (tmp_path / path.name).write_text(text, "utf-8")
    units = sorted(map(str, tmp_path.glob("mailqueue-*")))

    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")


def test_every_task_is_a_program_of_its_own() -> None:
    tasks = [
        found[1]
        for path in SCRIPTS
        if (found := re.search(r'main\(\["maintain", "([\w-]+)"', path.read_text("utf-8")))
    ]

    assert sorted(tasks) == sorted(Task)
