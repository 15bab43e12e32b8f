"""What the drain is measured with: a worker of another queue, TLS, a distant server."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.rules.source import ROOT

QUICKLY = ("--count", "40", "--processes", "1", "--content", "own", "--repeat", "1")


@pytest.mark.deep
@pytest.mark.timeout(300)
def test_a_drain_is_measured_without_and_with_a_worker_of_counts(tmp_path: Path) -> None:
    found = _measured(tmp_path, "--beside", "stats")

    alone, beside = found["runs"].items()
    assert alone[0] == "a body each, 1 process"
    assert beside[0] == "a body each, 1 process, with stats"
    assert "stats µs" not in alone[1][0]
    assert "stats µs" in beside[1][0]
    assert found["ratios"]["a body each, 1 process, this / with stats"]["mails/s"] > 0


@pytest.mark.deep
@pytest.mark.timeout(300)
def test_a_drain_is_measured_to_the_sink_and_through_tls_to_a_distant_one(tmp_path: Path) -> None:
    found = _measured(tmp_path, "--tls", "--delay-ms", "2")

    plain, away = found["runs"].items()
    assert plain[0] == "a body each, 1 process"
    assert away[0] == "a body each, 1 process, TLS, 2 ms away"
    assert "link µs" not in plain[1][0]
    assert "link µs" in away[1][0]
    assert away[1][0]["mails/s"] > 0


def _measured(folder: Path, *options: str) -> dict[str, Any]:
    file = folder / "figures.json"
    subprocess.run(
        [sys.executable, "-m", "bench.drain", *QUICKLY, *options, "--json", str(file)],
        check=True,
        cwd=ROOT,
        capture_output=True,
    )
    found: dict[str, Any] = orjson.loads(file.read_bytes())
    return found
