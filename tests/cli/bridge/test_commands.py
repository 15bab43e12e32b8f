"""`mailqueue bridge`: arguments and output."""

from uuid import UUID, uuid4

from mailqueue.bridge import letters, store
from mailqueue.bridge.model import Dead, QueueBinding
from mailqueue.db.fetch import Conn
from mailqueue.ports.broker import BrokerMessage
from tests.bridge.messages import MASSTRANSIT, masstransit
from tests.cli.support.invoked import Cli
from tests.inbox import events


async def prepare(conn: Conn) -> UUID:
    await events.rule(conn, await events.project_with_template(conn))
    binding = QueueBinding("orders", "default")
    await store.note_queue(conn, "default", "orders", state="waiting", reason="full", received=3)
    message = BrokerMessage(1, masstransit(), content_type=MASSTRANSIT)
    found = await letters.keep(conn, binding, message, Dead("it failed"))
    await letters.keep(conn, binding, BrokerMessage(2, b"poison"), Dead("body: not JSON"))
    return found


def test_dead_letters_are_listed_shown_and_replayed(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    letter = str(cli.sql(prepare))

    listed = cli("bridge", "dead-letters")
    assert "it failed" in listed.stdout
    assert "body: not JSON" in listed.stdout
    shown = cli("bridge", "show", letter)
    assert "OrderPlaced" in shown.stdout
    assert cli("bridge", "show", str(uuid4())).exit_code == 1
    assert cli("bridge", "replay").exit_code == 2

    tried = cli.json("bridge", "replay", "--since", "1d", "--dry-run")
    assert (tried["letters"], tried["events"], tried["failed"]) == (2, 1, 1)
    done = cli.json("bridge", "replay", "--since", "1d")
    assert (done["letters"], done["emails"], done["failed"]) == (2, 1, 1)
    again = cli.json("bridge", "dead-letters", "--status", "replayed")
    assert [one["id"] for one in again["data"]] == [letter]


def test_queues_are_listed_with_why_they_wait(on_fresh_db: Cli) -> None:
    assert "no queue of RabbitMQ" in on_fresh_db("bridge", "queues").stdout
    on_fresh_db.sql(prepare)

    [queue] = on_fresh_db.json("bridge", "queues")["data"]

    assert (queue["state"], queue["reason"], queue["received_messages"]) == ("waiting", "full", 3)


def test_an_outbox_publishes_to_rabbitmq(on_fresh_db: Cli) -> None:
    added = on_fresh_db.json("outbox", "add", "orders", "--rabbitmq", "cloudevents:shop.events")
    assert (added["transport"], added["target"]) == ("rabbitmq", "cloudevents:shop.events")
    changed = on_fresh_db.json("outbox", "change", "orders", "--rabbitmq", "masstransit")
    assert changed["target"] == "masstransit"
    assert on_fresh_db("outbox", "change", "orders").exit_code == 2
    wrong = on_fresh_db("outbox", "change", "orders", "--rabbitmq", "xml:orders")
    assert (wrong.exit_code, "target: masstransit" in wrong.stderr) == (1, True)
