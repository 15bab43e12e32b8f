"""A Prometheus that scrapes an installation: every query of dashboard and alerts is run."""

import os
import re
import signal
import urllib.request
from functools import partial
from pathlib import Path

import pytest

from mailqueue.embedded.ports import free_port
from tests.deploy.files import FOLDER, RULES, dashboards, promtool
from tests.deploy.prometheus import Prometheus, scraping
from tests.whole.running import Home, eventually, up

WITHOUT_SERIES = {
    *("mailqueue_blocked_lanes", "mailqueue_headroom_emails"),
    *("mailqueue_canary_age_seconds", "mailqueue_canary_late"),
    *("mailqueue_trace_age_seconds", "mailqueue_trace_spans"),
}
"""Metrics whose series appear with what they count: none in an installation that is well, sends no
canary emails and exports no traces."""


@pytest.mark.prometheus
def test_prometheus_reads_an_installation_and_runs_every_query(home: Home, tmp_path: Path) -> None:
    port = free_port()
    with up(home.with_(MAILQUEUE_METRICS_PORT=str(port)), "--workers", "2") as running:
        assert running.ready["metrics"] == f"http://127.0.0.1:{port}/metrics"
        with scraping(
            tmp_path / "prometheus",
            config=FOLDER / "prometheus.yml",
            targets=[f"127.0.0.1:{port}"],
        ) as prometheus:
            running.psql(
                "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body)"
                " SELECT 'a' || n || '@example.com', 'Hi', 'Hi' FROM generate_series(1, 40) AS n"
            )
            urllib.request.urlopen(f"{running.ready['api']}/healthz").close()
            _await_sent(prometheus, 40)
            os.kill(running.workers()[0], signal.SIGKILL)
            eventually(
                lambda: prometheus.query("sum(mailqueue_worker_deaths_total)"),
                lambda found: bool(found) and float(found[0]["value"][1]) >= 1,
            )
            running.psql(
                "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body)"
                " VALUES ('b@example.com', 'Hi', 'Hi')"
            )
            _await_sent(prometheus, 41)  # what the killed worker counted is still in it

            for path in ("metrics", "metrics/database"):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}") as answer:
                    promtool("check", "metrics", text=answer.read())
            for expression in dashboards().queries():
                query = partial(prometheus.query, expression.replace("$__rate_interval", "30s"))
                if set(re.findall(r"mailqueue_[a-z_]+", expression)) <= WITHOUT_SERIES:
                    query()
                elif not expression.endswith(" > 0"):
                    eventually(query, bool)
            for rule in RULES:
                prometheus.query(rule["expr"])
            assert prometheus.get("rules")["groups"][0]["rules"][0]["health"] == "ok"


def _await_sent(prometheus: Prometheus, count: int) -> None:
    eventually(
        lambda: prometheus.query('sum(mailqueue_send_attempts_total{result="sent"})'),
        lambda found: bool(found) and float(found[0]["value"][1]) == count,
        seconds=60,
    )
