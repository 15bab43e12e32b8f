"""`mailqueue project`: arguments and output."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mailqueue.cli.main import main
from tests.rows import each_row


@pytest.fixture
def runner(fresh_db: str, tmp_path: Path) -> CliRunner:
    environment = {"MAILQUEUE_DATABASE_URL": fresh_db, "MAILQUEUE_DATA": str(tmp_path)}
    return CliRunner(env=environment)


def test_a_ladder_is_chosen_shown_and_dropped(runner: CliRunner) -> None:
    def ladder(*words: str) -> Result:
        return runner.invoke(main, ["project", "ladder", "default", *words])

    chosen = ladder("documents", "--category", "marketing", "--json")
    assert chosen.exit_code == 0, chosen.output
    usual, marketing = json.loads(chosen.stdout)
    assert (usual["category"], usual["steps_seconds"]) == (None, [60, 300, 900, 3600])
    assert marketing == {
        "category": "marketing",
        "steps_seconds": [300, 900, 3600, 14400],
        "max_attempts": 5,
        "soft_wait_seconds": 86400,
        "soft_retries": 3,
        "on_exhausted": "fail",
    }

    own = ladder("--steps", "10s,2min", "--max-attempts", "4", "--soft-wait", "none", "--json")
    assert json.loads(own.stdout)[0]["steps_seconds"] == [10, 120]
    assert "0:00:10, 0:02:00" in ladder().stdout

    held = json.loads(ladder("outbox", "--json").stdout)[0]
    assert (held["max_attempts"], held["on_exhausted"]) == (5, "hold")
    assert "hold" in ladder().stdout
    own = json.loads(ladder("default", "--on-exhausted", "hold", "--json").stdout)[0]
    assert (own["max_attempts"], own["on_exhausted"]) == (None, "hold")

    ladder("default", "--category", "marketing")
    assert len(json.loads(ladder("default", "--json").stdout)) == 1


@each_row(
    "words, said",
    [
        (["soon"], "default or documents or outbox, got 'soon'"),
        (["--steps", "1min,soon"], "steps"),
        (["--max-attempts", "0"], "max_attempts"),
        (["--on-exhausted", "drop"], "on_exhausted: must be fail or hold, got 'drop'"),
    ],
)
def test_what_is_no_ladder_is_named(runner: CliRunner, words: list[str], said: str) -> None:
    refused = runner.invoke(main, ["project", "ladder", "default", *words])

    assert refused.exit_code == 1
    assert said in refused.output
