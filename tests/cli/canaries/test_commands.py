"""`mailqueue canary`: arguments and output."""

from tests.cli.senders.test_commands import RELAY, Cli, cli, document

__all__ = ["cli"]

CANARY = ("canary", "set", "relay", "--project", "default", "--to", "ops@example.com")


def test_a_canary_is_set_changed_listed_and_removed(cli: Cli) -> None:
    assert cli("canary", "list").stdout == "no canaries are set up\n"
    assert cli(*RELAY).exit_code == 0

    (found,) = document(cli(*CANARY, "--json"))
    assert (found["sender"], found["emails_per_day"], found["is_late"]) == ("relay", 1440, False)

    (changed,) = document(cli(*CANARY, "--every", "5min", "--json"))
    assert changed["emails_per_day"] == 288
    assert "ops@example.com" in cli("canary", "list").stdout

    remove = ("canary", "remove", "relay", "--project", "default", "--yes")
    assert document(cli(*remove, "--json")) == []
    assert cli(*remove).exit_code == 1


def test_a_faulty_canary_is_refused_in_words(cli: Cli) -> None:
    refused = cli(*CANARY, "--every", "often")

    assert refused.exit_code == 1
    assert "often" in refused.stderr
    assert "sender" in cli(*CANARY).stderr
