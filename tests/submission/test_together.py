"""Clients of all kinds submit mail at once while the server is killed repeatedly."""

import json
import signal
import smtplib
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.clients.node import printed_by
from tests.submission.killed_server import Answers, Server, hand_in
from tests.submission.postfix import handed_on, relaying
from tests.submission.programs import RunningSubmission, beside, message

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.soak,
    pytest.mark.postfix,
    pytest.mark.swaks,
    pytest.mark.node_clients,
    pytest.mark.timeout(1_800),
]
HERE = Path(__file__).parent
MAILS = {"smtplib": 600, "postfix": 200, "django": 100, "nodemailer": 100, "swaks": 20}
KILLS = 8

DJANGO = """
import json, sys, time
from django.conf import settings
settings.configure(**json.loads(sys.argv[1]))
from django.core import mail
import smtplib
for name in sys.argv[2:]:
    while True:
        try:
            mail.EmailMessage(
                name, "Hello", "shop@example.com", ["ann@example.com"],
                headers={"X-Mailqueue-Idempotency-Key": name},
            ).send()
            break
        except (OSError, smtplib.SMTPException):
            time.sleep(0.2)
"""


def names_of(program: str) -> list[str]:
    return [f"{program}-{number}" for number in range(MAILS[program])]


def by_django(smtp: RunningSubmission) -> None:
    settings = {
        "EMAIL_HOST": "localhost",
        "EMAIL_PORT": smtp.port,
        "EMAIL_USE_TLS": True,
        "EMAIL_HOST_USER": "apikey",
        "EMAIL_HOST_PASSWORD": smtp.key,
    }
    command = [sys.executable, "-c", DJANGO, json.dumps(settings), *names_of("django")]
    subprocess.run(command, check=True, env={"SSL_CERT_FILE": str(smtp.certificate)})


def by_nodemailer(smtp: RunningSubmission) -> None:
    given = [str(smtp.port), smtp.key, str(smtp.certificate), *names_of("nodemailer")]
    printed_by((HERE / "retrying.mjs").read_text("utf-8"), *given)


def by_swaks(smtp: RunningSubmission) -> None:
    for name in names_of("swaks"):
        command = [
            *("swaks", "--silent", "3", "--server", "localhost", "--port", str(smtp.port), "--tls"),
            *("--auth", "PLAIN", "--auth-user", "apikey", "--auth-password", smtp.key),
            *("--from", "shop@example.com", "--to", "ann@example.com"),
            *(
                "--header",
                f"Subject: {name}",
                "--add-header",
                f"X-Mailqueue-Idempotency-Key: {name}",
            ),
        ]
        while subprocess.run(command, capture_output=True, check=False).returncode != 0:
            pass


def by_postfix(port: int, home: Path) -> None:
    with smtplib.SMTP("127.0.0.1", port, timeout=120) as client:
        for name in names_of("postfix"):
            client.send_message(message(Subject=name))
    handed_on(home)


async def test_nothing_is_lost_and_nothing_is_there_twice(
    fresh_db: str, reachable_folder: Path, tmp_path: Path
) -> None:
    home = reachable_folder / "together"
    async with connect(DatabaseSettings(Secret(fresh_db))) as conn:
        await make.sender_account(conn)
        issued = await issue_key(conn, "default", "k", is_test=False, requests_per_second=100_000)
        key = issued.key.reveal()
        server, answers = Server(fresh_db, tmp_path), Answers()

        def run() -> int:
            server.start()
            answers.is_up.set()
            smtp = RunningSubmission(server.port, 0, key, tmp_path / "submission.pem")
            with relaying(home, smtp) as port:
                programs: list[Callable[[], None]] = [
                    lambda: hand_in(server.port, key, names_of("smtplib"), answers),
                    lambda: by_postfix(port, home),
                    lambda: by_django(smtp),
                    lambda: by_nodemailer(smtp),
                    lambda: by_swaks(smtp),
                ]
                threads = [threading.Thread(target=each, daemon=True) for each in programs]
                for thread in threads:
                    thread.start()
                for _ in range(KILLS):
                    threads[0].join(1.0)
                    server.end(signal.SIGKILL)
                    server.start()
                for thread in threads:
                    thread.join()
            return server.end(signal.SIGTERM)

        assert await beside(run) == 0

        found = [row[0] for row in await make.rows(conn, "SELECT subject FROM mailqueue.emails")]
    assert sorted(found) == sorted(name for program in MAILS for name in names_of(program))
