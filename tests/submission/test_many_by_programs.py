"""By common mail programs a mail to a long list reaches every recipient, or is refused."""

import json
import sys

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.clients.node import printed_by
from tests.submission.programs import RunningSubmission, beside, documented_lines
from tests.submission.test_many_recipients import everyone, people, written_to
from tests.submission.test_programs import told

pytestmark = pytest.mark.anyio

DJANGO = """
import json, sys
from django.conf import settings
settings.configure(**json.loads(sys.argv[1]))
from django.core import mail
made = mail.EmailMessage("By Django to 100", "b", "shop@example.com", ["first@sixty.example"],
                         bcc=[f"b{n}@sixty.example" for n in range(99)])
print(made.send())
many = mail.EmailMessage("By Django to 1001", "b", "shop@example.com", ["first@sixty.example"],
                         bcc=[f"b{n}@sixty.example" for n in range(1000)])
try:
    print(many.send())
except Exception as exc:
    print(type(exc).__name__)
"""


async def test_django_reaches_all_recipients_or_raises(
    smtp: RunningSubmission, database: Conn
) -> None:
    settings: dict[str, object] = {"API_KEY": smtp.key}
    exec(documented_lines("python", holding="EMAIL_HOST"), {"API_KEY": smtp.key}, settings)
    given = json.dumps(
        settings
        | {
            "EMAIL_PORT": smtp.port,
            "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        }
    )

    def send() -> str:
        environment = {"SSL_CERT_FILE": str(smtp.certificate)}
        done = told([sys.executable, "-c", DJANGO, given], env=environment)
        return done.stdout + done.stderr

    assert await beside(send) == "1\nSMTPDataError\n"

    expected = ["first@sixty.example", *(f"b{n}@sixty.example" for n in range(99))]
    assert everyone(await written_to(database, "By Django to 100")) == sorted(expected)
    assert await written_to(database, "By Django to 1001") == []
    octets = await make.scalar(
        database,
        "SELECT octets FROM mailqueue.attachments WHERE octets LIKE %s",
        b"%By Django to 100%",
    )
    assert b"b1@sixty.example" not in octets


NODEMAILER = """
import { readFileSync } from "node:fs";
import nodemailer from "nodemailer";
const [port, key, certificate] = process.argv.slice(2);
const transport = nodemailer.createTransport({
  host: "localhost", port: Number(port), requireTLS: true,
  auth: { user: "apikey", pass: key }, tls: { ca: readFileSync(certificate) },
});
for (const count of [100, 1001]) {
  const bcc = Array.from({ length: count }, (_, n) => `n${n}@node.example`);
  try {
    const info = await transport.sendMail({
      from: "shop@example.com", bcc, subject: `By nodemailer to ${count}`, text: "b",
    });
    console.log(info.accepted.length, info.rejected.length);
  } catch (error) {
    console.log(error.responseCode, error.command);
  }
}
transport.close();
"""


@pytest.mark.node_clients
async def test_nodemailer_reaches_all_recipients_or_raises(
    smtp: RunningSubmission, database: Conn
) -> None:
    given = (str(smtp.port), smtp.key, str(smtp.certificate))

    said = await beside(printed_by, NODEMAILER, *given)

    assert said.split("\n")[:2] == ["100 0", "554 DATA"]
    expected = sorted(f"n{n}@node.example" for n in range(100))
    assert everyone(await written_to(database, "By nodemailer to 100")) == expected
    assert await written_to(database, "By nodemailer to 1001") == []


@pytest.mark.swaks
@pytest.mark.parametrize("more", [[], ["--pipeline"]])
async def test_swaks_reaches_all_recipients(
    smtp: RunningSubmission, database: Conn, more: list[str]
) -> None:
    subject = f"By swaks to many {len(more)}"
    command = [
        *("swaks", "--server", "localhost", "--port", str(smtp.port), *more),
        *("--auth", "PLAIN", "--auth-user", "apikey", "--auth-password", smtp.key),
        *("--from", "shop@example.com", "--to", ",".join(people(120))),
        *("--header", f"Subject: {subject}", "--header", "To: list@example.com"),
    ]

    done = await beside(told, command)

    assert done.returncode == 0, done.stdout + done.stderr
    assert everyone(await written_to(database, subject)) == sorted(people(120))
