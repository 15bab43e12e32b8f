"""A project with one row of every kind."""

from pathlib import Path

import pytest

from tests.api.support.wired import MASTER
from tests.cli.contract.comparing import PROJECT
from tests.cli.support.invoked import Cli


@pytest.fixture(scope="module")
def cli(module_db: str, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Return a database with one row of every kind in project shop."""
    folder: Path = tmp_path_factory.mktemp("data")
    made = Cli(module_db, folder)
    made.environment |= {"MAILQUEUE_MASTER_KEY": MASTER, "MX": "hunter2"}
    for words in (
        ("project", "add", "shop", "--called", "The Shop", "--daily-limit", "500"),
        ("project", "add", "gone"),
        ("project", "suspend", "gone", "--reason", "unpaid"),
        ("sender", "add", "--name", "relay", "--host", "mx.example.com", "--username", "ann",
         "--password-env", "MX", "--warm-up", "5,50", *PROJECT),
        ("sender", "add", "--name", "spare", "--host", "b.example.com", "--fallback", *PROJECT),
        ("route", "add", "--category", "marketing", "--sender", "spare", *PROJECT),
        ("sender", "webhook", "relay", "--provider", "mailgun", "--signing-env", "MX", *PROJECT),
        ("webhook", "add", "https://app.example.com/a", "--event", "email.sent", *PROJECT),
        ("webhook", "add", "https://app.example.com/b", "--description", "all", *PROJECT),
        ("category", "add", "tips", "--name", "Tips", "--translation", "de=Tipps", *PROJECT),
        ("suppression", "add", "ann@example.com", "--detail", "by phone", *PROJECT),
        ("suppression", "remove", "ann@example.com", "--why", "called", *PROJECT),
        ("suppression", "add", "ann@example.com", "b@example.com", "--for", "30d", *PROJECT),
        ("template", "create", "welcome", "--description", "first", *PROJECT),
        ("template", "version", "welcome", "--subject", "Hi {{ name }}", "--text", "Hi",
         "--publish", *PROJECT),
        ("template", "version", "welcome", "--subject", "Ho", "--text", "Ho", *PROJECT),
        ("key", "create", "web", "--expires", "90d", "--rate", "5", *PROJECT),
    ):  # fmt: skip
        done = made(*words)
        assert done.exit_code == 0, (words, done.output)
    return made
