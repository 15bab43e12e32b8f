"""`mailqueue sender health`: output for an account with failures."""

import psycopg

from tests.cli.senders.test_commands import RELAY, Cli, cli, document

__all__ = ["cli"]


def test_health_is_shown_for_one_and_for_all(cli: Cli, fresh_db: str) -> None:
    assert cli(*RELAY).exit_code == 0
    with psycopg.connect(fresh_db) as conn:
        conn.execute(
            "SELECT mailqueue.rest_sender(id, 'connection refused')"
            " FROM mailqueue.sender_accounts WHERE name = 'relay'"
        )

    one = document(cli("sender", "health", "relay", "--json"))
    assert one["failures"] == {"unreachable": 1}
    assert one["circuit_state"] in ("open", "half_open")
    (listed,) = [
        each
        for each in document(cli("sender", "health", "--json"))["data"]
        if each["sender"] == "relay"
    ]
    assert listed == {"project": "default", "sender": "relay", **one}
    assert "unreachable: connection refused" in cli("sender", "health", "relay").stdout
    assert "unreachable 1" in cli("sender", "health").stdout
    assert cli("sender", "health", "nobody").exit_code != 0
