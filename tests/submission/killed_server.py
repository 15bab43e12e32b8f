"""A submission server that is killed and restarted, and a client that repeats until accepted."""

import json
import os
import select
import smtplib
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from tests.submission.programs import QUEUED
from tests.whole.running import ROOT

START_SECONDS = 120


@dataclass(slots=True)
class Server:
    """`mailqueue worker submission`, restarted on its port after each kill."""

    url: str
    data: Path
    port: int = 0
    process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "MAILQUEUE_DATABASE_URL": self.url,
            "MAILQUEUE_DATA": str(self.data),
        }
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "mailqueue", "worker", "submission"),
                *("--json", "--port", str(self.port)),
            ],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        readable, _, _ = select.select([self.process.stdout], [], [], START_SECONDS)
        assert readable
        self.port = json.loads(self.process.stdout.readline())["port"]

    def end(self, number: int) -> int:
        assert self.process is not None
        assert self.process.stdout is not None
        self.process.send_signal(number)
        code = self.process.wait(60)
        self.process.stdout.close()
        return code


@dataclass(slots=True)
class Answers:
    """The replies that clients received, from several threads."""

    id_by_name: dict[str, UUID] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    is_up: threading.Event = field(default_factory=threading.Event)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def add(self, name: str, email_id: UUID) -> None:
        with self.changed:
            self.id_by_name[name] = email_id
            self.changed.notify_all()

    def wait_for(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.id_by_name) >= count, 120)


def hand_in(port: int, key: str, names: list[str], answers: Answers) -> None:
    """Submit each message until it is accepted, as programs with a queue do."""
    left = list(names)
    while left:
        answers.is_up.wait(120)
        client = smtplib.SMTP(timeout=60)
        try:
            client.connect("127.0.0.1", port)
            client.login("apikey", key)
            while left and _is_taken(client, left[0], answers):
                left.pop(0)
        except (OSError, smtplib.SMTPException):
            pass
        finally:
            client.close()


def _is_taken(client: smtplib.SMTP, name: str, answers: Answers) -> bool:
    octets = (
        f"From: shop@example.com\r\nSubject: {name}\r\nMessage-ID: <{name}@example.com>\r\n"
        "\r\nHello\r\n"
    ).encode()
    client.mail("a@example.com")
    client.rcpt("ann@example.com")
    code, said = client.data(octets)
    if code == 250:
        answers.add(name, UUID(said.decode().partition(QUEUED)[2]))
    elif code >= 500:
        answers.faults.append(said.decode())
    return code not in range(400, 500)
