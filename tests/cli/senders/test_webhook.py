"""`mailqueue sender webhook`: a URL for each account and provider; secrets are never shown."""

import base64
from pathlib import Path

import pytest

from tests.cli.support.invoked import Cli

RELAY = ("sender", "add", "--name", "relay", "--host", "mx.example.com", "--tls", "none")


@pytest.fixture(scope="module")
def cli(module_db: str, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    made = Cli(module_db, tmp_path_factory.mktemp("data"))
    made.environment["MAILQUEUE_MASTER_KEY"] = base64.b64encode(bytes(range(32))).decode()
    made.environment["MAILQUEUE_PUBLIC_URL"] = "https://mail.example.com"
    made.environment["SIGNING"] = "key-7f3a"
    assert made(*RELAY).exit_code == 0
    return made


def test_it_is_made_once_and_shown_again(cli: Cli) -> None:
    first = cli.json("sender", "webhook", "relay", "--provider", "mailgun")

    assert first["url"].startswith("https://mail.example.com/inbound/mailgun/")
    assert len(first["url"].rpartition("/")[2]) >= 43
    assert cli.json("sender", "webhook", "relay", "--provider", "mailgun") == first
    other = cli.json("sender", "webhook", "relay", "--provider", "postmark")
    assert other["url"] != first["url"]


def test_secrets_are_kept_and_never_shown(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("public-key-9c1\n")
    words = ("sender", "webhook", "relay", "--provider", "sendgrid")
    cli.json(*words, "--signing-env", "SIGNING", "--user", "ann", "--password-env", "SIGNING")
    shown = cli.json(*words, "--topic", "one", "--setting", "header=x-secret")

    assert shown["has_signing_secret"]
    assert shown["has_password"]
    assert (shown["user"], shown["topics"], shown["settings"]) == (
        "ann",
        ["one"],
        {"header": "x-secret"},
    )
    assert cli.json(*words, "--signing-file", str(tmp_path / "key"))["user"] == "ann"
    printed = cli(*words)
    assert "key-7f3a" not in printed.output
    assert "public-key-9c1" not in printed.output
    assert "signing secret" in printed.output


def test_a_rotated_url_is_another_and_a_removed_one_is_gone(cli: Cli) -> None:
    words = ("sender", "webhook", "relay", "--provider", "resend")
    first = cli.json(*words)

    assert cli.json(*words, "--rotate")["url"] != first["url"]
    assert cli.json(*words, "--remove") == {"removed": True}
    assert cli(*words, "--remove").exit_code != 0


def test_an_account_by_smtp_names_its_provider(cli: Cli) -> None:
    refused = cli("sender", "webhook", "relay")

    assert refused.exit_code != 0
    assert "--provider" in refused.output
    assert cli("sender", "webhook", "nobody", "--provider", "ses").exit_code != 0
