"""Each launch file runs its process, with the options and exit codes of the command."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rules.source import ROOT

COMMAND_BY_FILE = {
    "api.py": ["api"],
    "bounces.py": ["worker", "bounces"],
    "console.py": ["console"],
    "everything.py": ["up"],
    "idle.py": ["worker", "idle"],
    "inbound.py": ["worker", "inbound"],
    "rabbitmq.py": ["worker", "rabbitmq"],
    "send.py": ["worker", "send"],
    "submission.py": ["worker", "submission"],
    "traces.py": ["worker", "traces"],
    "webhooks.py": ["worker", "webhooks"],
}
_ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def launched(file: str, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(ROOT / "workers" / file), *arguments],
        env={**_ENVIRONMENT, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_there_is_a_launch_file_for_each_process() -> None:
    assert sorted(path.name for path in (ROOT / "workers").glob("*.py")) == list(COMMAND_BY_FILE)


@pytest.mark.parametrize("file", COMMAND_BY_FILE)
def test_a_launch_file_takes_the_options_of_its_command(file: str) -> None:
    with launched(file, "--help") as process:
        printed, _ = process.communicate(timeout=60)

    usage = " ".join(["Usage: mailqueue", *COMMAND_BY_FILE[file], "[OPTIONS]"])
    assert printed.startswith(usage)
    assert process.returncode == 0


def test_a_faulty_setting_stops_the_start_with_one_line() -> None:
    with launched("send.py", MAILQUEUE_BATCH="many") as process:
        _, complaint = process.communicate(timeout=60)

    assert complaint.startswith("error: MAILQUEUE_BATCH: ")
    assert process.returncode == 4


def test_a_worker_told_to_stop_ends_well(fresh_db: str, tmp_path: Path) -> None:
    variables = {"MAILQUEUE_DATABASE_URL": fresh_db, "MAILQUEUE_DATA": str(tmp_path)}
    with launched("send.py", "--processes", "1", **variables) as process:
        assert process.stderr is not None
        assert "worker.started" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)

    assert "worker.stopped" in said
    assert process.returncode == 0
