"""`mailqueue sender test` against an SMTP server."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message
from aiosmtpd.smtp import SMTP
from click.testing import CliRunner, Result

from mailqueue.cli.main import main
from mailqueue.embedded.ports import free_port

Cli = Callable[..., Result]


class KeepingHandler(Message):
    """Stores accepted messages; refuses one recipient."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[Any] = []

    def handle_message(self, message: Any) -> None:
        self.messages.append(message)

    async def handle_RCPT(  # noqa: N802
        self, _server: Any, _session: Any, envelope: Any, address: str, _options: list[str]
    ) -> str:
        if address.startswith("gone@"):
            return "550 5.1.1 no such user here"
        envelope.rcpt_tos.append(address)
        return "250 OK"


@pytest.fixture
def smtp_server() -> Iterator[tuple[KeepingHandler, int]]:
    handler = KeepingHandler()
    controller = Controller(handler, hostname="127.0.0.1", port=free_port())
    controller.start()
    yield handler, controller.port
    controller.stop()


@pytest.fixture
def cli(fresh_db: str, tmp_path: Path) -> Cli:
    environment: dict[str, str | None] = {
        "MAILQUEUE_DATABASE_URL": fresh_db,
        "MAILQUEUE_DATA": str(tmp_path),
    }

    def invoke(*arguments: str, env: dict[str, str | None] | None = None) -> Result:
        return CliRunner(env=environment | (env or {})).invoke(main, ["sender", *arguments])

    return invoke


def connections_left(dsn: str) -> int:
    """Return the number of the command's connections, after a moment for closed ones to end."""
    count = -1
    with psycopg.connect(dsn, autocommit=True) as conn:
        for _ in range(100):
            row = conn.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE application_name = 'mailqueue/cli' AND datname = current_database()"
            ).fetchone()
            count = row[0] if row else -1
            if count == 0:
                break
            conn.execute("SELECT pg_sleep(0.02)")
    return count


def add(cli: Cli, port: int, *more: str, env: dict[str, str | None] | None = None) -> None:
    server = ("--host", "127.0.0.1", "--port", str(port), "--tls", "none")
    added = cli("add", "--name", "relay", *server, *more, env=env)
    assert added.exit_code == 0, added.output


def test_without_a_recipient_the_server_is_asked_and_nothing_is_sent(
    cli: Cli, smtp_server: tuple[KeepingHandler, int]
) -> None:
    kept, port = smtp_server
    add(cli, port)

    result = cli("test", "relay")

    assert result.exit_code == 0, result.output
    assert result.output.startswith(
        f"relay works: smtp 127.0.0.1:{port} none accepted the connection"
    )
    assert kept.messages == []


def test_with_a_recipient_a_mail_arrives(cli: Cli, smtp_server: tuple[KeepingHandler, int]) -> None:
    kept, port = smtp_server
    add(cli, port, "--from", "Ann <ann@example.com>")

    result = cli("test", "relay", "--to", "bob@example.org", "--json")

    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["success"], told["sent"]) == (True, True)
    assert told["code"] == "250"
    assert any(line["line"].startswith("250") for line in told["transcript"])
    assert [(mail["X-MailFrom"], mail["X-RcptTo"]) for mail in kept.messages] == [
        ("ann@example.com", "bob@example.org")
    ]


def test_a_refused_recipient_ends_with_1_and_the_servers_words(
    cli: Cli, smtp_server: tuple[KeepingHandler, int]
) -> None:
    add(cli, smtp_server[1], "--from", "ann@example.com")

    result = cli("test", "relay", "--to", "gone@example.org")

    assert result.exit_code == 1
    assert "550" in result.stderr
    assert "no such user here" in result.stderr
    assert "permanent_recipient, at rcpt" in result.stderr


def test_a_server_that_is_away_ends_with_1(cli: Cli) -> None:
    add(cli, free_port())

    result = cli("test", "relay")
    told = cli("test", "relay", "--json")

    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("error: relay (smtp 127.0.0.1:")
    assert told.exit_code == 1
    assert json.loads(told.stdout)["stage"] == "connect"


def test_no_database_connection_is_held_while_the_server_is_waited_for(
    cli: Cli, fresh_db: str
) -> None:
    """A server may take minutes; other commands can use the connection meanwhile."""
    seen: list[int] = []

    class Counting(Controller):
        def factory(self) -> SMTP:
            seen.append(connections_left(fresh_db))
            made: SMTP = super().factory()  # type: ignore[no-untyped-call]
            return made

    controller = Counting(KeepingHandler(), hostname="127.0.0.1", port=free_port())
    controller.start()
    try:
        seen.clear()  # the controller asked itself whether it is up
        add(cli, controller.port)
        assert cli("test", "relay").exit_code == 0
    finally:
        controller.stop()

    assert seen == [0]


def test_a_login_the_server_does_not_know_is_told_without_the_password(
    cli: Cli, smtp_server: tuple[KeepingHandler, int]
) -> None:
    env: dict[str, str | None] = {
        "P": "hunter2",
        "MAILQUEUE_MASTER_KEY": base64.b64encode(bytes(32)).decode(),
    }
    add(cli, smtp_server[1], "--username", "ann", "--password-env", "P", env=env)

    result = cli("test", "relay", env=env)

    assert result.exit_code == 1
    assert "account, at connect" in result.stderr
    assert "hunter2" not in result.output


def test_a_sealed_password_and_no_master_key_end_with_the_fix(
    cli: Cli, smtp_server: tuple[KeepingHandler, int]
) -> None:
    key: dict[str, str | None] = {
        "P": "hunter2",
        "MAILQUEUE_MASTER_KEY": base64.b64encode(bytes(32)).decode(),
    }
    add(cli, smtp_server[1], "--username", "ann", "--password-env", "P", env=key)

    result = cli("test", "relay")

    assert result.exit_code == 4
    assert "MAILQUEUE_MASTER_KEY" in result.stderr


def test_bad_input_is_told_before_anything_is_connected(cli: Cli) -> None:
    add(cli, free_port())
    pit = cli("add", "--name", "pit", "--provider", "trap")

    assert pit.exit_code == 0, pit.output
    for arguments, shown in (
        (("relay", "--to", "nobody"), "to: 'nobody' has no @"),
        (("relay", "--to", "bob@example.org"), "from: sender account relay has no address"),
        (("pit",), "name: pit is of provider trap"),
        (("nope",), "no sender account nope"),
    ):
        result = cli("test", *arguments)

        assert result.exit_code == 1, arguments
        assert shown in result.stderr
