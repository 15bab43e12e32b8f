"""`mailqueue sender change`: server, credentials and settings of an account."""

import base64
from types import SimpleNamespace
from typing import Any

import pytest

from mailqueue.cli.senders import key
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.senders import accounts
from mailqueue.vault.masterkey import MasterKey
from tests import make
from tests.cli.support.invoked import Cli
from tests.rows import each_row

MASTER = bytes(range(32))


@pytest.fixture
def cli(on_fresh_db: Cli) -> Cli:
    """A database with a master key and an account with a password."""
    on_fresh_db.environment |= {
        "MAILQUEUE_MASTER_KEY": base64.b64encode(MASTER).decode(),
        "OLD": "hunter2",
        "NEW": "correct horse",
    }
    added = on_fresh_db(
        *("sender", "add", "--name", "relay", "--host", "mx.example.com", "--username", "shop"),
        *("--password-env", "OLD", "--from", "Shop <shop@example.com>", "--daily-limit", "500"),
    )
    assert added.exit_code == 0, added.output
    return on_fresh_db


def password(cli: Cli, name: str = "relay") -> str | None:
    async def opened(conn: Conn) -> Secret | None:
        account = await accounts.find(conn, "default", name=name)
        return await accounts.password_of(conn, account, master=MasterKey(MASTER))

    found = cli.sql(opened)
    return None if found is None else found.reveal()


def changed(cli: Cli, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = cli.json("sender", "change", "relay", *words)
    return found


def test_a_new_host_takes_a_new_password_and_keeps_the_rest(cli: Cli) -> None:
    before = cli.json("sender", "show", "relay")

    after = changed(cli, "--host", "smtp2.example.com", "--password-env", "NEW")

    differing = {name for name in before if before[name] != after[name]} - {"updated_at"}
    assert differing == {"credentials"}
    assert after["credentials"]["host"] == "smtp2.example.com"
    assert password(cli) == "correct horse"
    query = "SELECT actor <> '', detail FROM mailqueue.audit WHERE action = 'sender.changed'"
    [(has_actor, detail)] = cli.sql(lambda conn: make.rows(conn, query))
    assert has_actor
    assert set(detail["fields"]) == {"smtp_host", "smtp_password"}


@pytest.mark.parametrize("option", [("--host", "evil.example.com"), ("--username", "ann")])
def test_the_stored_password_goes_to_no_other_server_or_user(
    cli: Cli, option: tuple[str, str]
) -> None:
    refused = cli("sender", "change", "relay", *option)

    assert refused.exit_code == 1
    assert "password-env" in refused.stderr
    assert "needs a password" in refused.stderr
    shown = cli.json("sender", "show", "relay")["credentials"]
    assert (shown["host"], shown["username"]) == ("mx.example.com", "shop")
    assert password(cli) == "hunter2"


def test_the_password_is_kept_where_the_server_stays(cli: Cli) -> None:
    after = changed(cli, "--tls", "implicit")
    assert (after["credentials"]["port"], after["credentials"]["tls_mode"]) == (465, "implicit")
    assert password(cli) == "hunter2"

    after = changed(cli, "--port", "2465", "--host", "MX.example.com")
    assert (after["credentials"]["port"], password(cli)) == (2465, "hunter2")
    assert changed(cli, "--tls", "starttls")["credentials"]["port"] == 2465


def test_a_password_alone_is_changed(cli: Cli) -> None:
    changed(cli, "--password-env", "NEW")

    assert password(cli) == "correct horse"


def test_a_password_that_is_asked_for_is_read_from_a_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_terminal = cli("sender", "change", "relay", "--ask-password")
    assert without_terminal.exit_code == 1
    assert "password-env" in without_terminal.stderr

    monkeypatch.setattr(key, "sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    typed = cli("sender", "change", "relay", "--ask-password", stdin="typed by hand\n")
    assert typed.exit_code == 0, typed.output
    assert password(cli) == "typed by hand"


def test_login_from_address_order_notes_and_limits_are_changed_and_removed(cli: Cli) -> None:
    after = changed(
        cli,
        *("--from", "sales@example.com", "--priority", "5", "--fallback", "--notes", "spare"),
        *("--daily-limit", "none", "--rate-per-second", "14"),
    )
    assert (after["from_email"], after["from_name"], after["priority"]) == (
        "sales@example.com",
        None,
        5,
    )
    assert (after["is_fallback"], after["notes"], after["daily_limit"]) == (True, "spare", None)
    assert after["rate_limit_per_sec"] == 14

    after = changed(cli, "--from", "none", "--no-fallback", "--notes", "none", "--no-login")
    assert (after["from_email"], after["is_fallback"], after["notes"]) == (None, False, None)
    assert (after["credentials"]["username"], password(cli)) == (None, None)
    assert after["rate_limit_per_sec"] == 14


def test_settings_of_a_provider_are_merged(cli: Cli) -> None:
    added = cli(
        *("sender", "add", "--name", "ses", "--provider", "ses", "--username", "AKID"),
        *("--api-key-env", "OLD", "--setting", "region=eu-west-1"),
        *("--setting", "configuration_set=events"),
    )
    assert added.exit_code == 0, added.output

    words = ("--setting", "region=us-east-1", "--setting", "configuration_set=")
    after = cli.json("sender", "change", "ses", *words)

    assert after["credentials"]["region"] == "us-east-1"
    assert "configuration_set" not in after["credentials"]
    assert password(cli, "ses") == "hunter2"
    assert cli.json("sender", "change", "ses", "--api-key-env", "NEW")["name"] == "ses"
    assert password(cli, "ses") == "correct horse"


@each_row(
    "words, exit_code, why",
    [
        ((), 2, "give at least one option to change"),
        (("--no-login", "--username", "ann"), 2, "neither a user name nor a password"),
        (("--priority", "-1"), 1, "must be at least 0"),
        (("--port", "70000"), 1, "must be at most 65535"),
        (("--from", "nobody"), 1, "from"),
        (("--password-env", "ABSENT"), 1, "is not set"),
    ],
)
def test_faulty_changes_are_refused_and_change_nothing(
    cli: Cli, words: tuple[str, ...], exit_code: int, why: str
) -> None:
    before = cli.json("sender", "show", "relay")

    refused = cli("sender", "change", "relay", *words)

    assert refused.exit_code == exit_code, refused.output
    assert why in refused.stderr
    assert cli.json("sender", "show", "relay") == before
    assert cli("sender", "change", "nobody", "--priority", "1").exit_code == 1
