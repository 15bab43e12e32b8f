"""Published mail programs, unmodified: swaks, Postfix, nodemailer, Django."""

import json
import re
import smtplib
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.clients.node import printed_by
from tests.submission.postfix import handed_on, relaying
from tests.submission.programs import QUEUED, RunningSubmission, beside, documented_lines, message

pytestmark = pytest.mark.anyio
HERE = Path(__file__).parent


def told(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, **options
    )


def ids_in(said: str) -> list[UUID]:
    return [UUID(each.split()[0]) for each in said.split(QUEUED)[1:]]


@pytest.mark.swaks
@pytest.mark.parametrize(
    "way",
    [
        ["--tls", "--auth", "PLAIN"],
        ["--tls", "--auth", "LOGIN"],
        ["--tls-on-connect", "--auth", "LOGIN"],
        ["--auth", "PLAIN"],
        ["--tls", "--auth", "PLAIN", "--pipeline"],
    ],
)
async def test_swaks_hands_in(smtp: RunningSubmission, database: Conn, way: list[str]) -> None:
    port = smtp.tls_port if "--tls-on-connect" in way else smtp.port
    command = [
        *("swaks", "--server", "localhost", "--port", str(port), *way),
        *("--auth-user", "apikey", "--auth-password", smtp.key),
        *("--tls-verify", "--tls-ca-path", str(smtp.certificate)) * ("--tls" in way[0]),
        *("--from", "shop@example.com", "--to", "ann@example.com,ben@example.com"),
        *("--header", "Subject: By swaks", "--body", "A line\n.\n..\nlast"),
    ]

    done = await beside(told, command)

    assert done.returncode == 0, done.stdout + done.stderr
    [email_id] = ids_in(done.stdout)
    octets = await make.scalar(
        database,
        "SELECT a.octets FROM mailqueue.email_queue AS q JOIN mailqueue.email_contents AS c"
        " ON c.id = q.content_id JOIN mailqueue.attachments AS a"
        " ON a.id = (c.files -> 0 ->> 'id')::uuid WHERE q.id = %s",
        email_id,
    )
    assert b"A line\r\n.\r\n..\r\nlast" in octets


@pytest.mark.swaks
async def test_swaks_is_refused_with_a_wrong_key(smtp: RunningSubmission) -> None:
    command = [
        *("swaks", "--server", "127.0.0.1", "--port", str(smtp.port), "--tls", "--auth", "PLAIN"),
        *("--auth-user", "apikey", "--auth-password", "wrong"),
        *("--from", "shop@example.com", "--to", "ann@example.com"),
    ]

    done = await beside(told, command)

    assert done.returncode == 28
    assert "535 5.7.8" in done.stdout


@pytest.mark.postfix
async def test_postfix_relays_all_its_mail(
    smtp: RunningSubmission, database: Conn, reachable_folder: Path
) -> None:
    """It pipelines, reuses connections and sends to many recipients in groups of 50."""
    home = reachable_folder / "relay"

    def send(port: int) -> None:
        with smtplib.SMTP("127.0.0.1", port, timeout=120) as client:
            for number in range(20):
                client.send_message(message(Subject=f"Relayed {number}"))
            many = [f"p{number}@example.com" for number in range(120)]
            client.send_message(message(Subject="Relayed to many"), to_addrs=many)
        handed_on(home)

    with relaying(home, smtp) as port:
        await beside(send, port)

    found = await make.rows(
        database,
        "SELECT e.subject, e.recipients FROM mailqueue.emails AS e"
        " WHERE e.subject LIKE 'Relayed%%' ORDER BY e.subject, e.recipients",
    )
    assert [row for row in found if row[0] != "Relayed to many"] == sorted(
        (f"Relayed {number}", 1) for number in range(20)
    )
    assert sum(count for subject, count in found if subject == "Relayed to many") == 120


@pytest.mark.node_clients
async def test_nodemailer_hands_in(smtp: RunningSubmission, database: Conn) -> None:
    program = (HERE / "send.mjs").read_text("utf-8")
    given = (str(smtp.port), smtp.key, str(smtp.certificate), "10")

    ids = ids_in(await beside(printed_by, program, *given))

    assert len(set(ids)) == 10
    rows = await make.rows(
        database,
        "SELECT subject, recipients, tags FROM mailqueue.emails WHERE id = ANY (%s)"
        " ORDER BY subject",
        ids,
    )
    assert rows == [(f"By nodemailer {number} ✓", 3, ["node"]) for number in range(10)]


DJANGO = """
import json, sys
from django.conf import settings
settings.configure(**json.loads(sys.argv[1]))
from django.core import mail
some = [
    mail.EmailMultiAlternatives(
        f"By Django {n}", "Grüße", "Shop <shop@example.com>", [f"d{n}@example.com"],
        bcc=["hidden@example.com"], headers={"X-Mailqueue-Category": "news"},
        attachments=[("a.pdf", b"%PDF-1.7", "application/pdf")],
        alternatives=[("<p>Grüße</p>", "text/html")],
    )
    for n in range(3)
]
print(mail.get_connection("django.core.mail.backends.smtp.EmailBackend").send_messages(some))
"""


async def test_the_documented_program_hands_in(smtp: RunningSubmission, database: Conn) -> None:
    program = documented_lines("python", holding="import smtplib")
    given = {"PORT": smtp.port, "CONTEXT": smtp.context(), "API_KEY": smtp.key}

    await beside(exec, program, given)

    query = "SELECT campaign_id FROM mailqueue.emails WHERE subject = 'Your order 81'"
    assert await make.rows(database, query) == [("orders",)]


def test_the_documented_filter_finds_who_guesses(capfd: pytest.CaptureFixture[str]) -> None:
    """Like fail2ban, which replaces <HOST> by a pattern of addresses."""
    line = documented_lines("ini", holding="failregex").split("failregex = ")[1].strip()
    program = (
        "from mailqueue.settings.logs import LogFormat, LogLevel, LogSettings\n"
        "from mailqueue.telemetry.log import configure_logging, get_logger\n"
        "configure_logging(LogSettings(LogLevel.INFO, LogFormat.JSON))\n"
        "log = get_logger('mailqueue.submission.authentication')\n"
        "for event in 'submission.login_failed', 'submission.locked_out', 'submission.refused':\n"
        "    log.warning(event, client='203.0.113.9', failures=3)\n"
    )

    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)

    said = "".join(capfd.readouterr())
    assert re.findall(line.replace("<HOST>", r"([0-9a-f.:]+)"), said) == [
        ("203.0.113.9", "login_failed"),
        ("203.0.113.9", "locked_out"),
    ]


async def test_django_hands_in(smtp: RunningSubmission, database: Conn) -> None:
    settings: dict[str, object] = {"API_KEY": smtp.key}
    exec(documented_lines("python", holding="EMAIL_HOST"), {"API_KEY": smtp.key}, settings)
    given = json.dumps(settings | {"EMAIL_PORT": smtp.port})
    command = [sys.executable, "-c", DJANGO, given]

    done = await beside(_with_certificate, command, smtp.certificate)

    assert done.stdout == "3\n", done.stderr
    rows = await make.rows(
        database,
        "SELECT subject, recipients, category FROM mailqueue.emails"
        " WHERE subject LIKE 'By Django%%' ORDER BY subject",
    )
    assert rows == [(f"By Django {number}", 2, "news") for number in range(3)]


def _with_certificate(command: list[str], file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={"SSL_CERT_FILE": str(file)},
    )
