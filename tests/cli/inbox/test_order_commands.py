"""The page's example of three order commands, as it is written there."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.cli.support.invoked import Cli
from tests.docs.reading import blocks, shell_lines

PAGE = "docs/inbox.md"
ORDER = next(b.text for b in blocks("text") if b.page == PAGE and "tracking" in b.text)
TEMPLATES = {
    "order-placed": "Order {{ order_id }} of {{ total }}",
    "order-review": "How was order {{ order_id }}?",
    "order-completed": "Order {{ order_id }} is on its way: {{ tracking }}",
    "order-cancelled": "Order {{ order_id }} is cancelled, {{ refund }} returned",
}


def test_the_example_of_the_page_mails_and_cancels(
    on_fresh_db: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = on_fresh_db
    for slug, subject in TEMPLATES.items():
        assert cli("template", "add", slug, "--project", "default").exit_code == 0
        options = ("--subject", subject, "--text", subject, "--publish", "--project", "default")
        assert cli("template", "version", slug, *options).exit_code == 0
    monkeypatch.chdir(tmp_path)
    (tmp_path / "order.json").write_text(ORDER)
    lines = [
        words
        for block in blocks("sh")
        if block.page == PAGE
        for words in shell_lines(block.text)
        if words[:2] == ["mailqueue", "event-rule"]
    ]
    for words in lines:
        done = cli(*words[1:])
        assert done.exit_code == 0, (words, done.stderr)

    def told(command: str) -> dict[str, Any]:
        words = ("event", "deliver", command, "order.json", "--message", str(uuid4()))
        found: dict[str, Any] = cli.json(*words)
        return found

    placed = told("PlaceOrderCommand")
    completed = told("CompleteOrderCommand")
    cancelled = told("CancelOrderCommand")

    made = {one["rule"]: one["email_id"] for one in placed["actions"]}
    assert made.keys() == {"order-placed", "order-review"}
    assert [one["rule"] for one in completed["actions"]] == ["order-completed"]
    assert {one["rule"]: one["result"] for one in cancelled["actions"]} == {
        "order-cancelled-review": "cancelled",
        "order-cancelled": "mail",
    }
    assert cancelled["cancelled_ids"] == [made["order-review"]]
