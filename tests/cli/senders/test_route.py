"""`mailqueue route`: arguments and output."""

from tests.cli.senders.test_commands import RELAY, Cli, cli, document

__all__ = ["cli"]

BULK = (*RELAY[:3], "bulk", *RELAY[4:], "--fallback")


def test_rules_are_added_listed_tried_and_removed(cli: Cli) -> None:
    assert cli(*RELAY).exit_code == 0
    assert document(cli(*BULK, "--json"))["is_fallback"] is True

    (added,) = document(
        cli("route", "add", "--category", "marketing", "--sender", "bulk", "--json")
    )
    assert (added["position"], added["senders"]) == (1, ["bulk"])
    assert "marketing" in cli("route", "list").stdout

    asked = ("route", "test", "--recipient", "ann@example.com", "--json")
    assert [one["sender"] for one in document(cli(*asked))] == ["relay", "bulk"]
    (candidate,) = document(cli(*asked, "--category", "marketing"))
    assert (candidate["rule_id"], candidate["sender"]) == (added["rule_id"], "bulk")

    assert document(cli("route", "remove", str(added["rule_id"]), "--yes", "--json")) == []
    assert cli("route", "remove", str(added["rule_id"]), "--yes").exit_code == 1


def test_a_faulty_rule_is_refused_in_words(cli: Cli) -> None:
    refused = cli("route", "add", "--tag", "vip", "--sender", "nobody")

    assert refused.exit_code == 1
    assert "sender" in refused.stderr
    assert "nobody" in refused.stderr
    assert cli("route", "list", "--project", "none").exit_code == 1


def test_an_account_becomes_a_fallback_and_back(cli: Cli) -> None:
    assert cli(*RELAY).exit_code == 0

    assert document(cli("sender", "fallback", "relay", "--json"))["is_fallback"] is True
    assert document(cli("sender", "fallback", "relay", "--off", "--json"))["is_fallback"] is False
