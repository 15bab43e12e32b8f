"""`mailqueue event-rule` and the commands of the inbox: arguments and output."""

import json
from uuid import uuid4

from tests.cli.support.invoked import Cli

ORDER = json.dumps({"orderId": "81", "total": 7, "customer": {"email": "ann@example.com"}})
ADD = (
    "event-rule", "add", "placed", "--type", "OrderPlaced", "--template", "welcome",
    "--recipient", "$.customer.email", "--variable", "order=$.orderId", "--key", "$.orderId",
    "--tag", "orders", "--delay", "1h",
)  # fmt: skip


def with_template(cli: Cli) -> Cli:
    assert cli("template", "add", "welcome", "--project", "default").exit_code == 0
    words = ("--subject", "Order {{ order }}", "--text", "Thank you", "--publish")
    done = cli("template", "version", "welcome", *words, "--project", "default")
    assert done.exit_code == 0, done.stderr
    return cli


def test_a_rule_is_added_tried_changed_and_removed(on_fresh_db: Cli) -> None:
    cli = with_template(on_fresh_db)
    added = cli.json(*ADD)
    assert (added["is_enabled"], added["delay_seconds"], added["tags"]) == (False, 3600, ["orders"])
    assert added["variables"] == {"order": "$.orderId"}

    tried = cli("event-rule", "try", "placed", "-", "--json", stdin=ORDER)
    assert json.loads(tried.stdout)["email"]["recipient"] == "ann@example.com"
    assert "ann@example.com" in cli("event-rule", "try", "placed", "-", stdin=ORDER).stdout
    assert "payload: is not JSON" in cli("event-rule", "try", "placed", "-", stdin="{").stderr

    changed = cli.json("event-rule", "change", "placed", "--enable", "--condition", "$.total > 9")
    assert (changed["is_enabled"], changed["condition"], changed["version"]) == (
        True,
        "$.total > 9",
        2,
    )
    assert cli.json("event-rule", "change", "placed", "--condition", "")["condition"] is None
    assert "placed" in cli("event-rule", "list").stdout
    assert cli.json("event-rule", "show", "placed")["version"] == 3
    refused = cli("event-rule", "change", "placed", "--condition", "$.**")
    assert (refused.exit_code, refused.stderr) == (
        1,
        "error: condition: ** is not allowed: name the keys\n",
    )
    assert cli("event-rule", "change", "placed").exit_code == 1
    assert cli("event-rule", "remove", "placed", "--yes").stdout == "event rule placed is removed\n"
    assert cli("event-rule", "show", "placed").exit_code == 1


def test_an_event_is_delivered_shown_and_replayed(on_fresh_db: Cli) -> None:
    cli = with_template(on_fresh_db)
    message = str(uuid4())
    deliver = ("event", "deliver", "OrderPlaced", "-", "--message", message)

    told = cli(*deliver, "--header", "CorrelationId=o-81", "--json", stdin=ORDER)
    assert json.loads(told.stdout)["status"] == "ignored"
    cli(*ADD, "--enable")
    counted = cli.json("event", "replay", "--type", "OrderPlaced", "--dry-run")
    done = cli.json("event", "replay", "--message", message)
    assert (counted["emails"], done["emails"], done["is_dry_run"]) == (1, 1, False)
    assert "unchanged   1" in cli("event", "replay", "--since", "1h").stdout
    assert cli("event", "replay").exit_code == 2

    again = cli(*deliver, stdin=ORDER)
    assert "placed" in again.stdout
    [shown] = cli.json("event", "show", message)["data"]
    assert (shown["status"], shown["correlation_id"]) == ("handled", "o-81")
    assert "placed" in cli("event", "show", message).stdout
    assert cli("event", "show", str(uuid4())).exit_code == 1
    listed = cli.json("event", "inbox", "--status", "handled")
    assert [one["message_id"] for one in listed["data"]] == [message]
    assert "placed: mail" in cli("event", "inbox").stdout
