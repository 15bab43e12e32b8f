"""`mailqueue domain`: arguments and output."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mailqueue.cli.main import main


@pytest.fixture
def runner(fresh_db: str, tmp_path: Path) -> CliRunner:
    environment = {"MAILQUEUE_DATABASE_URL": fresh_db, "MAILQUEUE_DATA": str(tmp_path)}
    return CliRunner(env=environment)


def test_a_rate_is_set_shown_and_lifted(runner: CliRunner) -> None:
    def domain(*words: str) -> Result:
        return runner.invoke(main, ["domain", *words])

    found = domain("rate", "example.com", "300/min", "--note", "they throttle us", "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout) == [
        {
            "holds_for": "example.com",
            "rate_per_second": 5,
            "burst": 5,
            "note": "they throttle us",
            "used_up_until": None,
        }
    ]
    assert "they throttle us" in domain("list").stdout

    assert domain("rate", "example.com", "none").exit_code == 0
    again = domain("rate", "example.com", "none")
    assert (again.exit_code, "example.com" in again.output) == (1, True)


def test_what_is_no_rate_is_named(runner: CliRunner) -> None:
    refused = runner.invoke(main, ["domain", "rate", "example.com", "fast"])

    assert refused.exit_code == 1
    assert "5/s, 300/min or 1000/h, got 'fast', or none" in refused.output
