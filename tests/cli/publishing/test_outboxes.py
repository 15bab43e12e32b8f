"""`mailqueue outbox`: arguments and output."""

from uuid import uuid4

from tests.api.support.wired import MASTER
from tests.cli.support.invoked import Cli
from tests.publishing import outboxes


def with_key(cli: Cli) -> Cli:
    cli.environment["MAILQUEUE_MASTER_KEY"] = MASTER
    return cli


def hook(cli: Cli, url: str) -> str:
    return str(cli.json("webhook", "add", url)["webhook"]["id"])


def test_an_outbox_is_added_shown_changed_and_removed(on_fresh_db: Cli) -> None:
    cli = with_key(on_fresh_db)
    hooks = [hook(cli, f"https://shop{number}.example.com/hook") for number in (1, 2)]
    added = cli.json("outbox", "add", "orders", "--webhook", hooks[0])
    assert (added["transport"], added["target"], added["waiting"]) == ("webhook", hooks[0], 0)

    again = cli("outbox", "add", "orders", "--webhook", hooks[0])
    assert (again.exit_code, again.stderr) == (
        1,
        "error: outbox orders already exists in this project\n",
    )
    other = cli("outbox", "add", "other", "--webhook", str(uuid4()))
    assert other.exit_code == 1
    assert "target: the project has no webhook" in other.stderr

    changed = cli.json("outbox", "change", "orders", "--webhook", hooks[1])
    assert changed["target"] == hooks[1]
    assert cli.json("outbox", "list")["data"] == [cli.json("outbox", "show", "orders")]
    assert "orders" in cli("outbox", "list").stdout

    assert cli("outbox", "remove", "orders", "--yes").stdout == "outbox orders is removed\n"
    assert cli("outbox", "show", "orders").exit_code == 1
    assert cli("outbox", "remove", "orders", "--yes").exit_code == 1


def test_the_events_that_an_outbox_publishes_are_set_kept_and_ended(on_fresh_db: Cli) -> None:
    cli = with_key(on_fresh_db)
    target = hook(cli, "https://shop.example.com/hook")
    delivered = "email.delivered"
    added = cli.json("outbox", "add", "mail", "--webhook", target, "--event", delivered)
    assert added["events"] == [delivered]

    moved = cli.json("outbox", "change", "mail", "--rabbitmq", "cloudevents:shop.mail")
    assert moved["events"] == [delivered]
    every = cli.json("outbox", "change", "mail", "--all-events")
    assert (every["events"], every["target"]) == ([], "cloudevents:shop.mail")
    wrong = cli("outbox", "change", "mail", "--event", "delivered")
    assert wrong.exit_code == 1
    assert 'events: there is no type "delivered"' in wrong.stderr
    assert cli("outbox", "change", "mail", "--all-events", "--no-events").exit_code == 2

    held = cli("outbox", "remove", "mail", "--yes")
    assert (held.exit_code, held.stderr) == (
        1,
        "error: outbox mail publishes events of emails: change it to publish none, "
        "then remove it\n",
    )
    assert cli.json("outbox", "change", "mail", "--no-events")["events"] is None
    assert cli("outbox", "remove", "mail", "--yes").exit_code == 0


def test_a_message_that_waits_is_counted_and_can_be_left_out(on_fresh_db: Cli) -> None:
    cli = with_key(on_fresh_db)
    cli.json("outbox", "add", "orders", "--webhook", hook(cli, "https://shop.example.com/hook"))
    message = str(cli.sql(lambda conn: outboxes.publish(conn, outbox="orders")))

    found = cli.json("outbox", "show", "orders")
    assert (found["waiting"], found["oldest_waiting_at"] is not None) == (1, True)

    skipped = cli("outbox", "skip", "orders", message, "--yes")
    assert skipped.stdout == f"message {message} is left out\n"
    assert cli.json("outbox", "show", "orders")["waiting"] == 0
    again = cli("outbox", "skip", "orders", message, "--yes")
    assert (again.exit_code, again.stderr) == (1, f"error: no waiting message {message}\n")
