"""`mailqueue trap`: caught mail as text and as JSON."""

import asyncio
import json
import os
import signal
import smtplib
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mailqueue.cli.main import main
from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.trap import store
from mailqueue.trap.summary import caught
from tests.trap.trapping import HTML

Cli = Callable[..., Result]


@pytest.fixture
def environment(fresh_db: str, tmp_path: Path) -> dict[str, str]:
    return {"MAILQUEUE_DATABASE_URL": fresh_db, "MAILQUEUE_DATA": str(tmp_path)}


@pytest.fixture
def cli(environment: dict[str, str]) -> Cli:
    def invoke(*arguments: str) -> Result:
        return CliRunner(env=environment).invoke(main, ["trap", *arguments])

    return invoke


def catch(fresh_db: str, *raws: bytes) -> None:
    async def add() -> None:
        async with connect(DatabaseSettings(Secret(fresh_db))) as conn:
            await store.add(
                conn, [caught("ann@example.com", ("bob@example.org",), r) for r in raws]
            )

    asyncio.run(add())


def document(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_an_empty_trap_is_an_empty_array(cli: Cli) -> None:
    assert document(cli("list", "--json")) == []


def test_all_mail_is_listed_newest_first(cli: Cli, fresh_db: str) -> None:
    catch(fresh_db, *(f"Subject: {n}\r\n\r\nx".encode() for n in range(450)))

    assert [each["subject"] for each in document(cli("list", "--json"))] == [
        str(n) for n in reversed(range(450))
    ]
    assert len(document(cli("list", "--json", "--limit", "3"))) == 3
    assert len(document(cli("list", "--json", "--search", "44"))) == 14


def test_a_listed_mail_says_who_what_and_which(cli: Cli, fresh_db: str) -> None:
    catch(fresh_db, HTML)

    (light,) = document(cli("list", "--json"))
    (full,) = document(cli("list", "--json", "--full"))

    assert {name: light[name] for name in light if name not in ("id", "received_at")} == {
        "mail_from": "ann@example.com",
        "rcpt_to": ["bob@example.org"],
        "subject": "Receipt 😊 for you",
        "from": "Anné <ann@example.com>",
        "to": '"Bob, the builder" <bob@example.org>',
        "message_id": "<one@example.com>",
        "size_bytes": len(HTML),
    }
    assert full["text"].strip() == "Thank you for the order."
    assert full["html"].strip() == "<p>Thank you for <b>the order</b>.</p>"
    assert ["Message-ID", "<one@example.com>"] in [
        [name, value.strip()] for name, value in full["headers"]
    ]


def test_a_table_is_for_people(cli: Cli, fresh_db: str) -> None:
    catch(fresh_db, HTML, b"Subject: \x1b[2Jgone\r\n\r\n\x1b[2J\r\n")

    listed = cli("list")
    shown = cli("show", "2")

    assert listed.exit_code == 0
    assert "Receipt 😊 for you" in listed.stdout
    assert "\x1b" not in listed.stdout + shown.stdout
    assert "envelope to" in shown.stdout
    assert cli("list", "--full").exit_code == 2


def test_one_message_is_shown_exactly(cli: Cli, fresh_db: str) -> None:
    raw = b"Subject: \xff\x00\r\n\r\n.dots\r\n\x80"
    catch(fresh_db, raw)

    assert cli("show", "1", "--raw").stdout_bytes == raw
    assert document(cli("show", "1", "--json"))["id"] == 1
    missing = cli("show", "9")
    assert (missing.exit_code, missing.stderr) == (1, "error: no trap message 9\n")


def test_clearing_says_how_many(cli: Cli, fresh_db: str) -> None:
    catch(fresh_db, HTML, HTML)

    assert document(cli("clear", "--yes", "--json")) == {"cleared": 2}
    assert cli("clear", "--yes").stdout == "0 caught messages deleted\n"


@pytest.mark.deep
@pytest.mark.parametrize(
    ("command", "lines"), [(["trap", "serve"], 2), (["api"], 1), (["console"], 1)]
)
def test_what_runs_alone_serves_until_it_is_told_to_stop(
    environment: dict[str, str], command: list[str], lines: int
) -> None:
    ports = ("MAILQUEUE_PORT", "MAILQUEUE_TRAP_PORT", "MAILQUEUE_CONSOLE_PORT")
    given = environment | dict.fromkeys(ports, "0")
    with subprocess.Popen(
        [sys.executable, "-m", "mailqueue", *command],
        env={**os.environ, **given},
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        try:
            said = dict(running.stderr.readline().split() for _ in range(lines))
            if "SMTP" in said:
                port = int(said["SMTP"].rpartition(":")[2])
                with smtplib.SMTP("127.0.0.1", port, timeout=60) as smtp:
                    smtp.sendmail("ann@example.com", ["bob@example.org"], HTML)
                page = said["Page"]
            elif "Console" in said:
                page = said["Console"].removesuffix("/console") + "/readyz"
            else:
                page = said["API"] + "/readyz"
            with urllib.request.urlopen(page, timeout=60) as answer:
                text = answer.read().decode()
            assert "Receipt" in text or "ready" in text
        finally:
            running.send_signal(signal.SIGTERM)
        assert running.wait(20) == 0


def test_a_network_needs_a_password(environment: dict[str, str]) -> None:
    asked = ["trap", "serve", "--host", "0.0.0.0", "--port", "0"]
    result = CliRunner(env=environment).invoke(main, asked)

    assert result.exit_code == 4
    assert "MAILQUEUE_TRAP_PASSWORD" in result.stderr
