"""`mailqueue sequence`: arguments and output."""

import json
from pathlib import Path

from mailqueue.db.fetch import Conn
from tests.cli.support.invoked import Cli
from tests.sequences.running import project_with_template

STEPS = [
    {"name": "one", "template": "hello"},
    {"name": "two", "template": "hello", "delay": "1d", "at": "09:00"},
]


def with_sequence(cli: Cli, tmp_path: Path) -> Path:
    async def filled(conn: Conn) -> None:
        await project_with_template(conn)

    cli.sql(filled)
    file = tmp_path / "steps.json"
    file.write_text(json.dumps(STEPS))
    added = cli.json("sequence", "add", "onboarding", str(file), "--reenroll", "after_end")
    assert (added["draft_version"], added["reenroll"]) == (1, "after_end")
    assert cli.json("sequence", "publish", "onboarding")["published_version"] == 1
    return file


def test_a_sequence_is_added_changed_paused_and_removed(on_fresh_db: Cli, tmp_path: Path) -> None:
    cli = on_fresh_db
    file = with_sequence(cli, tmp_path)
    again = cli("sequence", "add", "onboarding", str(file))
    assert (again.exit_code, again.stderr) == (
        1,
        "error: sequence onboarding already exists in this project\n",
    )

    file.write_text(json.dumps({"steps": STEPS[:1], "goal": {"event": "Paid"}}))
    assert cli.json("sequence", "change", "onboarding", "--steps", str(file))["draft_version"] == 2
    versions = cli.json("sequence", "versions", "onboarding")["data"]
    assert [one["goal"] for one in versions] == [{"event": "Paid"}, None]
    assert "one, two" in cli("sequence", "versions", "onboarding").stdout
    assert cli.json("sequence", "pause", "onboarding")["is_paused"] is True
    assert cli.json("sequence", "resume", "onboarding")["is_paused"] is False
    assert "onboarding" in cli("sequence", "list").stdout
    file.write_text(json.dumps([STEPS[0] | {"delay": "soon"}]))
    refused = cli("sequence", "change", "onboarding", "--steps", str(file))
    assert refused.exit_code == 1
    assert "steps.0.delay" in refused.stderr

    removed = cli("sequence", "remove", "onboarding", "--yes")
    assert removed.stdout == "sequence onboarding is removed\n"
    assert cli("sequence", "show", "onboarding").exit_code == 1


def test_contacts_are_enrolled_listed_moved_and_ended(on_fresh_db: Cli, tmp_path: Path) -> None:
    cli = on_fresh_db
    with_sequence(cli, tmp_path)
    done = cli.json("sequence", "enroll", "onboarding", "ann@example.com", "--variable", "plan=pro")
    assert done["outcome"] == "enrolled"
    text = cli("sequence", "enroll", "onboarding", "ann@example.com").stdout
    assert text == f"ann@example.com is enrolled already: {done['enrollment_id']}\n"

    listed = tmp_path / "contacts.csv"
    listed.write_text("email,plan\nbob@example.com,free\nnone,free\n")
    imported = cli("sequence", "import", "onboarding", str(listed))
    assert imported.exit_code == 1
    assert imported.stderr.startswith("line 3: email: ")
    assert imported.stdout.startswith("1 enrolled, 0 enrolled before, 0 suppressed, 1 invalid")

    shown = cli.json("sequence", "enrollment", done["enrollment_id"])
    assert (shown["state"], shown["variables"]) == ("active", {"plan": "pro"})
    assert "ann@example.com" in cli("sequence", "enrollment", done["enrollment_id"]).stdout
    assert "waits" not in cli("sequence", "counts", "onboarding").stdout
    counts = cli.json("sequence", "counts", "onboarding")["steps"]
    assert [one["waiting"] for one in counts] == [2, 0]
    moved = cli.json("sequence", "move", "onboarding")
    assert moved == {"moved": 0, "remaining": 0}
    assert len(cli.json("sequence", "enrollments", "--state", "active")["data"]) == 2

    ended = cli("sequence", "unenroll", done["enrollment_id"])
    assert ended.stdout == "ann@example.com left sequence onboarding\n"
    assert "left before step one: removed" in cli("why", done["enrollment_id"]).stdout
