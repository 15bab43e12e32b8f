"""`mailqueue schedule`: arguments and output."""

from tests.cli.support.invoked import Cli

WORDS = ("--to", "ann@example.com", "--subject", "Hello", "--text", "Hello Ann")


def test_a_schedule_is_added_shown_changed_and_removed(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    added = cli.json("schedule", "add", "digest", "--cron", "0 9 * * mon", *WORDS)
    assert (added["status"], added["cron_expression"]) == ("active", "0 9 * * mon")
    assert cli.json("schedule", "list")["data"] == [added]
    assert "digest" in cli("schedule", "list").stdout
    again = cli("schedule", "add", "digest", "--cron", "0 9 * * mon", *WORDS)
    assert again.exit_code == 1
    assert "already exists" in again.stderr

    changed = cli.json(
        *("schedule", "change", "digest", "--cron", "0 8 * * *", "--spread", "2h", *WORDS)
    )
    assert (changed["cron_expression"], changed["spread_seconds"]) == ("0 8 * * *", 7200)
    runs = cli.json("schedule", "preview", "digest", "--count", "2")
    assert [run["local_time"][10:] for run in runs["data"]] == ["T08:00:00"] * 2
    assert cli.json("schedule", "estimate", "digest")["recipients"] == 1
    assert cli.json("schedule", "pause", "digest")["status"] == "paused"
    assert cli.json("schedule", "resume", "digest")["status"] == "active"
    skipped = cli.json("schedule", "skip", "digest")
    assert skipped["skipped_at"] == runs["data"][0]["run_at"]
    begun = cli.json("schedule", "run", "digest", "--yes")
    assert (begun["number"], begun["started_by"]) == (1, "request")
    assert cli.json("schedule", "runs", "digest")["data"] == [begun]
    assert cli.json("schedule", "show", added["id"])["run_count"] == 1
    assert "not due before" in cli("why", added["id"]).stdout

    removed = cli.json("schedule", "remove", "digest", "--yes")
    assert (removed["status"], removed["last_run"]) == ("cancelled", 1)
    assert cli.json("schedule", "show", "digest")["status"] == "cancelled"
    assert cli("schedule", "show", "nothing").exit_code == 1


def test_a_schedule_is_tried_before_it_exists(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    given = ("schedule", "add", "digest", "--cron", "0 9 * * mon", *WORDS, "--dry-run")

    assert cli.json(*given)["recipients"] == 1
    assert "recipients" in cli(*given).stdout
    assert cli.json("schedule", "list")["data"] == []


def test_a_refusal_names_the_field(on_fresh_db: Cli) -> None:
    found = on_fresh_db("schedule", "add", "digest", "--cron", "0 0 30 2 *", *WORDS)
    assert found.exit_code == 1
    assert "cron_expression" in found.stderr
    found = on_fresh_db("schedule", "add", "one", "--at", "2030-05-01T09:00", "--to", "nobody")
    assert found.exit_code == 1
    assert "to: " in found.stderr
