"""`mailqueue ab-test`: create, send, list, show, decide and cancel tests."""

import json
from pathlib import Path

from tests.analytics.ab_tests import steps
from tests.cli.support.invoked import Cli


def test_a_test_is_created_sent_shown_and_decided(on_fresh_db: Cli, tmp_path: Path) -> None:
    cli = on_fresh_db
    test_file, people = tmp_path / "spring.json", tmp_path / "people.json"
    test_file.write_text(json.dumps(steps.wanted()), "utf-8")
    people.write_text(json.dumps(["ann@example.com", {"recipient": "bob@example.com"}]), "utf-8")
    test = cli.json("ab-test", "create", str(test_file))
    assert test["state"] == "created"
    sent = cli.json("ab-test", "send", test["id"], str(people))
    assert [one["status"] for one in sent] == ["queued", "queued"]
    assert "duplicate" in cli("ab-test", "send", test["id"], str(people)).output

    shown = cli("ab-test", "show", test["id"]).output
    assert "variant B" in shown
    assert "0 sent, 0 opened, 0 clicked" in shown
    assert test["id"] in cli("ab-test", "list", "--project", "default").output
    decided = cli.json("ab-test", "decide", test["id"], "B")
    assert (decided["result"], decided["winner"]) == ("by_hand", "B")
    cancelled = cli("ab-test", "cancel", test["id"])
    assert cancelled.exit_code == 0, cancelled.output
    assert cli("ab-test", "cancel", test["id"]).exit_code != 0


def test_a_file_that_is_no_test_is_refused(on_fresh_db: Cli, tmp_path: Path) -> None:
    cli = on_fresh_db
    file = tmp_path / "x.json"
    for text in ("{", "[]", "{}"):
        file.write_text(text, "utf-8")
        assert cli("ab-test", "create", str(file)).exit_code != 0, text
