"""What destroys asks on a terminal, takes `--yes`, and is refused without either."""

import sys
from types import SimpleNamespace

import click
import pytest

from mailqueue.cli.support import confirmation
from tests.cli.support.invoked import Cli
from tests.cli.support.test_groups import children, groups

ID = "0197b8f0-0000-7000-8000-000000000001"
DESTROYING = [
    ("project", "remove", "default"),
    ("sender", "remove", "relay"),
    ("canary", "remove", "relay", "--project", "default"),
    ("route", "remove", "7"),
    ("key", "revoke", "web"),
    ("platform", "revoke-keys", "--all", "--reason", "copied"),
    ("admin", "revoke", "ann"),
    ("user", "remove", "ann"),
    ("member", "remove", "ann", "--project", "default"),
    ("template", "remove", "welcome"),
    ("template", "part", "remove", "footer"),
    ("template", "picture", "remove", "0198c0f2-8f4e-7c31-9d7e-0c5b5e0c7a11"),
    ("category", "remove", "tips"),
    ("webhook", "remove", ID),
    ("event-rule", "remove", "order-placed"),
    ("outbox", "remove", "orders"),
    ("schedule", "remove", "digest"),
    ("birthday", "remove"),
    ("contact", "remove", "ann@example.com"),
    ("list", "remove", "news"),
    ("sequence", "remove", "onboarding"),
    ("watch", "inbox", "remove", ID),
    ("tracking", "revoke", "default", "4f2a10c3b7"),
    ("dkim", "revoke", "example.com", "mq1"),
    ("trap", "clear"),
]
ASKING = {"remove", "revoke", "revoke-keys", "clear"}
"""Names of commands that destroy something."""
HARMLESS = {
    ("producer", "remove"),
    ("suppression", "remove"),
    ("members", "remove"),
    ("muted", "remove"),
    ("rule", "remove"),
}
"""Commands of these names that destroy nothing: what they take away can be added again."""


@pytest.mark.parametrize("words", DESTROYING, ids=" ".join)
def test_what_destroys_is_refused_without_a_terminal_and_asks_on_one(
    on_shared_db: Cli, words: tuple[str, ...]
) -> None:
    refused = on_shared_db(*words, stdin="y\n")
    assert refused.exit_code == 1
    assert refused.stdout == ""
    assert refused.stderr.startswith("error: ")
    assert refused.stderr.endswith("There is no terminal to ask on: confirm with --yes\n")

    denied = on_shared_db(*words, answer="n\n")
    assert (denied.exit_code, denied.stdout) == (1, "")
    assert "? [y/N]" in denied.stderr


def test_the_trap_is_emptied_when_a_person_agrees(on_fresh_db: Cli) -> None:
    agreed = on_fresh_db("trap", "clear", answer="y\n")

    assert (agreed.exit_code, agreed.stdout) == (0, "0 caught messages deleted\n")
    assert on_fresh_db.json("trap", "clear", "--yes") == {"cleared": 0}


def test_every_command_whose_name_says_that_it_destroys_asks() -> None:
    found = {
        (str(group.name), name)
        for group in groups()
        for name, command in children(group)
        if name in ASKING and not isinstance(command, click.Group)
    }
    groups_within = {"part", "picture", "inbox"}
    asking = {words[1:3] if words[1] in groups_within else words[:2] for words in DESTROYING}

    assert found - HARMLESS == asking


def test_a_pipe_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for is_terminal in (True, False):
        stdin = SimpleNamespace(isatty=lambda is_terminal=is_terminal: is_terminal)
        monkeypatch.setattr(sys, "stdin", stdin)
        assert confirmation.has_terminal() is is_terminal
