"""`mailqueue timed-event` and `mailqueue birthday`: arguments and output."""

from uuid import uuid4

import pytest

from tests.cli.support.invoked import Cli
from tests.rows import each_row
from tests.timed_events import events

ONE = ("renewal", "--template", "welcome", "--recipient", "ann@example.com")
CLOCK = ("--local-at", "2050-05-31T09:00", "--time-zone", "Europe/Berlin")


@pytest.fixture
def cli(on_fresh_db: Cli) -> Cli:
    on_fresh_db.sql(events.template)
    return on_fresh_db


def test_an_event_is_put_shown_changed_and_cancelled(cli: Cli) -> None:
    added = cli.json("timed-event", "put", *ONE, *CLOCK, "--key", "one", "--payload", '{"n": 1}')
    event = added["event"]
    assert (added["is_new"], event["status"], event["payload"]) == (True, "PENDING", {"n": 1})
    again = cli.json("timed-event", "put", *ONE, *CLOCK, "--key", "one")
    assert again == {"event": event, "is_new": False}
    assert cli.json("timed-event", "show", event["id"]) == event
    assert cli.json("timed-event", "list", "--status", "PENDING")["data"] == [event]
    assert cli.json("timed-event", "list", "--status", "FAILED")["data"] == []
    assert "Europe/Berlin" in cli("timed-event", "list").stdout
    assert "not due before 2050-05-31 07:00:00 UTC" in cli("why", event["id"]).stdout

    change = ("timed-event", "change", event["id"], "--version", "1")
    moved = cli.json(*change, "--local-at", "2050-06-01T09:00")
    assert (moved["version"], moved["local_at"]) == (2, "2050-06-01T09:00:00")
    stale = cli(*change, "--local-at", "2050-06-02T09:00")
    assert (stale.exit_code, "has version 2, not 1" in stale.stderr) == (1, True)

    assert cli("timed-event", "cancel", event["id"], "--yes").exit_code == 0
    (failed,) = cli.json("timed-event", "list", "--status", "FAILED")["data"]
    assert failed["failure_reason"].startswith("cancelled by ")
    assert cli("timed-event", "show", str(uuid4())).exit_code == 1


@each_row(
    "given, field",
    [
        (("--at", "tomorrow"), "at"),
        (("--local-at", "2050-05-31T09:00", "--time-zone", "Mars/Base"), "time_zone"),
        ((*CLOCK, "--payload", "["), "payload"),
        ((*CLOCK, "--webhook", str(uuid4())), "webhook_id"),
    ],
)
def test_a_refusal_names_the_field(cli: Cli, given: tuple[str, ...], field: str) -> None:
    found = cli("timed-event", "put", *ONE, *given)

    assert found.exit_code == 1
    assert f"{field}: " in found.stderr


def test_the_birthday_rule_is_set_shown_and_removed(cli: Cli) -> None:
    assert cli("birthday", "show").exit_code == 1
    rule = ("--template", "welcome", "--time", "08:30", "--leap-day", "march_1")
    assert cli("birthday", "set", *rule).exit_code == 0

    shown = cli.json("birthday", "show")

    assert (shown["local_time"], shown["leap_day"]) == ("08:30", "march_1")
    assert cli("birthday", "remove", "--yes").exit_code == 0
    assert cli("birthday", "show").exit_code == 1
