"""`--beside` of the drain: each case runs without and with a worker of another queue."""

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from tests.rules.source import ROOT

QUICKLY = ("--count", "40", "--processes", "1", "--content", "own", "--repeat", "1")


@pytest.mark.deep
@pytest.mark.timeout(300)
def test_a_drain_is_measured_without_and_with_a_worker_of_counts(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    subprocess.run(
        [sys.executable, "-m", "bench.drain", *QUICKLY, "--beside", "stats", "--json", str(file)],
        check=True,
        cwd=ROOT,
        capture_output=True,
    )
    found = orjson.loads(file.read_bytes())

    alone, beside = found["runs"].items()
    assert alone[0] == "a body each, 1 process"
    assert beside[0] == "a body each, 1 process, with stats"
    assert "stats µs" not in alone[1][0]
    assert "stats µs" in beside[1][0]
    assert found["ratios"]["a body each, 1 process, this / with stats"]["mails/s"] > 0
