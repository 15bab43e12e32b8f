"""The samples for cron and systemd use valid commands, and leave time to drain."""

import configparser
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from mailqueue.cli.worker.commands import COMMANDS
from mailqueue.maintenance.model import Task
from mailqueue.process.child import DRAIN_SECONDS
from mailqueue.process.groups import MAIL
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
    "name", ["worker", "api", "webhooks", "inbound", "bounces", "submission", "upkeep"]
)
def test_a_service_waits_for_readiness_and_for_the_drain(name: str) -> None:
    service = unit(SAMPLES / "systemd" / f"mailqueue-{name}.service")["Service"]

    assert service["Type"] == "notify"
    assert service["KillMode"] == "mixed"  # SIGTERM to the parent alone, which drains its children
    assert int(service["WatchdogSec"]) > 0
    if name in ("worker", "webhooks", "inbound", "upkeep"):
        assert int(service["TimeoutStopSec"]) > DRAIN_SECONDS


def with_mail(kinds: set[str]) -> set[str]:
    """Return kinds of worker with the queues of mail, which `worker send` works on as well."""
    return kinds | set(MAIL) if "send" in kinds else kinds


def test_every_kind_of_worker_has_a_unit_and_a_container() -> None:
    """Without a worker of some kind, its rows would wait forever."""
    kinds = set(COMMANDS)
    units = {
        word
        for path in UNITS
        if path.suffix == ".service"
        for [words] in [commands(unit(path)["Service"]["ExecStart"])]
        if words[0] == "worker"
        for word in words[1:]
    } & kinds
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]
    started = [service.get("command", [""]) for service in services.values()]

    assert with_mail(units) == kinds
    words = {word for words in started if words[0] == "worker" for word in words[1:]}
    assert with_mail(words & kinds) == kinds


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
