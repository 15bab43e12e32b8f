"""`mailqueue sender prefer` and `remove`: arguments and output."""

from tests.cli.senders.test_commands import RELAY, Cli, cli, document

__all__ = ["cli"]


def test_an_account_becomes_the_first_and_another_goes(cli: Cli) -> None:
    assert cli(*RELAY).exit_code == 0
    assert cli(*RELAY[:3], "spare", *RELAY[4:], "--priority", "200", "--fallback").exit_code == 0

    first = document(cli("sender", "prefer", "spare", "--json"))
    gone = cli("sender", "remove", "relay", "--yes")

    assert (first["priority"], first["is_fallback"]) == (99, False)
    assert gone.stdout == "relay is removed\n"
    assert [one["name"] for one in document(cli("sender", "list", "--json"))["data"]] == ["spare"]
    assert cli("sender", "remove", "relay", "--yes").exit_code == 1
    assert document(cli("sender", "remove", "spare", "--yes", "--json"))["removed"] == "spare"
