"""A Prometheus scrapes an installation with faults: the alerts of these fire, and no other."""

import asyncio
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from mailqueue.core.queues.registry import QUEUES, UPKEEP
from mailqueue.embedded.ports import free_port
from mailqueue.embedded.server import embedded_server
from mailqueue.maintenance.model import Task
from tests.deploy.files import FOLDER
from tests.deploy.prometheus import Prometheus, scraping
from tests.whole.running import Home, eventually
from tests.whole.sink import sink

pytestmark = [pytest.mark.anyio, pytest.mark.prometheus, pytest.mark.timeout(400)]

LOGIN = "CREATE ROLE worker LOGIN PASSWORD 'worker' IN ROLE mailqueue_worker"
"""Maintenance begins by itself where a worker may act as the owner: these may not."""
QUEUE = """
INSERT INTO mailqueue.email_queue (project_id, recipient_email, subject, text_body)
SELECT p.id, 'person' || n || '@example.com', 'Hi', 'Hi'
  FROM mailqueue.projects AS p, generate_series(1, %s) AS n WHERE p.name = %s
"""
SENT = "SELECT count(*) FROM mailqueue.email_history WHERE status = 'sent'"
DEFERRED = "SELECT count(*) FROM mailqueue.send_logs WHERE status = 'deferred'"
TOLD = "SELECT count(*) FROM mailqueue.webhook_deliveries"
WORKERS = "SELECT pid FROM mailqueue.worker_status WHERE status = 'running' AND kind = 'send'"
LATER = """
UPDATE mailqueue.maintenance_tasks
   SET created_at = created_at - interval '40 days', run_at = run_at - interval '40 days';
UPDATE mailqueue.webhook_deliveries
   SET created_at = created_at - interval '2 h', run_at = run_at - interval '2 h';
"""
DEATHS = 3
EXPECTED = {
    ("MailqueueProviderErrors", "smtp"),
    ("MailqueueExhaustedAccount", "smtp"),
    ("MailqueueLateQueue", "webhooks"),
    ("MailqueueCheckAlarm", "webhook backlog"),
    ("MailqueueWorkerDeaths",),
    ("MailqueueNoMetrics",),
    ("MailqueueNoWorker", "maintenance"),
    ("MailqueueLateQueue", "maintenance"),
    ("MailqueueCheckAlarm", "work queues"),
    *(("MailqueueMaintenanceLate", task) for task in Task),
}


@contextmanager
def running(home: Home, *words: str) -> Iterator[tuple["subprocess.Popen[bytes]", str]]:
    """Run a command with a metrics port of its own; yield its process and the port's address."""
    port = str(free_port())
    with (home.data / f"log-{port}").open("wb") as log:
        process = subprocess.Popen(
            home.command(*words),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=home.environment() | {"MAILQUEUE_METRICS_PORT": port},
        )
    try:
        yield process, f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def firing(prometheus: Prometheus, *, seconds: float = 10) -> set[tuple[str, ...]]:
    """Return the alerts that fired in the last seconds, each with its labels besides those of the
    target.
    """
    of_target = {"__name__", "alertname", "alertstate", "severity", "instance", "job"}
    window = f"[{int(seconds)}s]"
    found = prometheus.query(f'count_over_time(ALERTS{{alertstate="firing"}}{window})')
    return {
        (labels["alertname"], *(labels[name] for name in labels.keys() - of_target))
        for labels in (one["metric"] for one in found)
    }


async def test_the_alerts_of_five_faults_fire_and_no_other(home: Home, tmp_path: Path) -> None:
    async with embedded_server(home.data) as server:
        url = server.database.url.reveal()
        await asyncio.to_thread(break_and_watch, url, tmp_path)


def break_and_watch(url: str, folder: Path) -> None:
    with ExitStack() as stack:
        conn = stack.enter_context(psycopg.connect(url, autocommit=True))
        conn.execute(LOGIN)
        variables = {"MAILQUEUE_MASTER_KEY": "11" * 32, "MAILQUEUE_ALLOWED_HOSTS": "127.0.0.0/8"}
        owner = Home(folder, {**variables, "DATABASE_URL": url})
        login = make_conninfo(url, user="worker", password="worker")
        own = Home(folder, {**variables, "DATABASE_URL": login})
        queues = [queue.name for queue in QUEUES if queue.name not in UPKEEP]
        (_, first), (_, second), (lost, third) = (
            stack.enter_context(running(own, "worker", *words))
            for words in (queues, ("send", "--processes", "4"), ("inbound",))
        )
        prometheus = stack.enter_context(
            scraping(
                folder / "prometheus",
                config=FOLDER / "prometheus.yml",
                targets=[first, second, third],
                at_once=True,
            )
        )
        eventually(lambda: prometheus.query("mailqueue_workers{queue='send'} == 4"))
        eventually(lambda: firing(prometheus), lambda found: not found)

        relay = stack.enter_context(sink())
        failing = stack.enter_context(sink(answer="451 4.3.0 Try again later"))
        silent = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        for name, port, more in (
            ("good", relay.port, ()),
            ("small", relay.port, ("--daily-limit", "1")),
            ("failing", failing.port, ()),
        ):
            owner.json("project", "add", name)
            account = ("--name", name, "--tls", "none", "--host", "127.0.0.1", "--port", str(port))
            owner.json(
                "sender", "add", "--project", name, "--from", "a@example.com", *account, *more
            )
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        owner.json("webhook", "add", endpoint, "--project", "good")
        for name, count in (("good", 40), ("small", 2), ("failing", 30)):
            conn.execute(QUEUE, (count, name))

        def numbers(query: str) -> list[int]:
            return [row[0] for row in conn.execute(query.encode())]

        eventually(lambda: numbers(SENT), lambda found: found == [41])
        eventually(lambda: numbers(DEFERRED)[0], lambda deferred: deferred >= 30)
        eventually(lambda: numbers(TOLD), lambda found: found == [80])
        for pid in numbers(WORKERS)[:DEATHS]:
            os.kill(pid, signal.SIGKILL)
        lost.kill()
        for statement in LATER.split(";"):
            conn.execute(statement.encode())

        # No worker may do maintenance, so that none registers for it: what fires goes on firing.
        eventually(lambda: firing(prometheus), lambda found: found == EXPECTED)
