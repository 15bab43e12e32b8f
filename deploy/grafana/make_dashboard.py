"""Writes dashboard.json, a dashboard for Grafana: `python deploy/grafana/make_dashboard.py`.

No Grafana runs where this project is tested: every query is run against Prometheus, and the
document has the fields of Grafana's dashboard model (schema version 39).
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from panels import Panel, rate, share, stat

FILE = Path(__file__).with_name("dashboard.json")
_SOURCE = {"type": "prometheus", "uid": "${source}"}
_WIDTH, _HEIGHT = 24, 8


SEND = "mailqueue_send_duration_seconds"
HANDLING = "mailqueue_queue_handling_duration_seconds"
HTTP = "mailqueue_http_request_duration_seconds"
ROWS: Sequence[tuple[str, Sequence[Panel]]] = (
    (
        "Now",
        (
            stat("Due emails", 'sum(mailqueue_emails{status="due"})'),
            stat("Oldest due email", "max(mailqueue_oldest_email_seconds)", "s"),
            stat("Held", 'sum(mailqueue_emails{status="held"})'),
            stat(
                "Sent a second",
                'sum(rate(mailqueue_send_attempts_total{result="sent"}[$__rate_interval]))',
            ),
            stat("Send workers", 'mailqueue_workers{queue="send"}'),
            stat("Checks with an alarm", "count(mailqueue_check_state == 2) or vector(0)"),
        ),
    ),
    (
        "Sending",
        (
            Panel(
                "Outcomes a second",
                [(rate("mailqueue_send_attempts_total", "result"), "{{result}}")],
            ),
            Panel(
                "Response time of servers",
                [
                    (share(SEND, 0.5), "half"),
                    (share(SEND, 0.95), "95 of 100"),
                    (share(SEND, 0.99), "99 of 100"),
                ],
                "s",
            ),
            Panel(
                "Errors by provider",
                [
                    (
                        'sum by (provider) (mailqueue_recent_attempts{result!="sent"})'
                        " / sum by (provider) (mailqueue_recent_attempts)",
                        "{{provider}}",
                    )
                ],
                "percentunit",
                help="Share of the attempts of the last 5 minutes that were not accepted.",
            ),
            Panel(
                "Commits a second",
                [("sum(rate(mailqueue_send_commits_total[$__rate_interval]))", "commits")],
            ),
            Panel(
                "Time of a commit",
                [
                    (
                        "sum(rate(mailqueue_send_commit_seconds_total[$__rate_interval]))"
                        " / sum(rate(mailqueue_send_commits_total[$__rate_interval]))",
                        "mean",
                    )
                ],
                "s",
            ),
            Panel(
                "Emails of a claim",
                [
                    (
                        "sum by (queue) (rate(mailqueue_claimed_rows_total[$__rate_interval]))"
                        " / sum by (queue) (rate(mailqueue_claims_total[$__rate_interval]))",
                        "{{queue}}",
                    )
                ],
            ),
        ),
    ),
    (
        "Queue",
        (
            Panel(
                "Unfinished emails by priority",
                [("sum by (priority) (mailqueue_emails)", "{{priority}}")],
            ),
            Panel("Oldest due email", [("mailqueue_oldest_email_seconds", "{{priority}}")], "s"),
            Panel("Blocked lanes", [("mailqueue_blocked_lanes", "{{reason}}")]),
        ),
    ),
    (
        "Sender accounts",
        (
            Panel(
                "Accounts by status",
                [("sum by (status) (mailqueue_sender_accounts)", "{{status}}")],
            ),
            Panel("Emails left today", [("mailqueue_headroom_emails", "{{provider}}")]),
            Panel(
                "Open circuits and accounts at their limit",
                [
                    ("mailqueue_open_circuits", "circuit {{provider}}"),
                    ("mailqueue_exhausted_accounts", "limit {{provider}}"),
                ],
            ),
        ),
    ),
    (
        "Other queues",
        (
            Panel("Due rows", [('mailqueue_rows{status="due"}', "{{queue}}")]),
            Panel("Oldest due row", [("mailqueue_oldest_row_seconds", "{{queue}}")], "s"),
            Panel(
                "Outcomes a second",
                [(rate("mailqueue_queue_rows_total", "queue, outcome"), "{{queue}} {{outcome}}")],
            ),
            Panel(
                "Time of handling, 95 of 100",
                [(share(HANDLING, 0.95, "le, queue"), "{{queue}}")],
                "s",
            ),
            Panel("Workers", [("mailqueue_workers", "{{queue}}")]),
            Panel(
                "Deaths of workers",
                [
                    (
                        "sum by (instance) (increase(mailqueue_worker_deaths_total[1h]))",
                        "{{instance}}",
                    )
                ],
            ),
        ),
    ),
    (
        "Canaries and traces",
        (
            Panel(
                "Time since a canary email",
                [("mailqueue_canary_age_seconds", "{{provider}} {{stage}}")],
                "s",
                help="Of the account of a provider whose last one is oldest.",
            ),
            Panel(
                "Canary emails that are absent",
                [("mailqueue_canary_late > 0", "{{provider}} {{stage}}")],
                kind="table",
                help="`mailqueue canary list` names the accounts.",
            ),
            Panel(
                "Spans a second",
                [("clamp_min(deriv(mailqueue_trace_spans[5m]), 0)", "{{result}}")],
            ),
            Panel("Time for which spans wait", [("mailqueue_trace_age_seconds", "traces")], "s"),
        ),
    ),
    (
        "HTTP",
        (
            Panel("Requests a second", [(rate(f"{HTTP}_count", "status"), "{{status}}")]),
            Panel(
                "Response time, 95 of 100",
                [(share(HTTP, 0.95, "le, route"), "{{route}}")],
                "s",
            ),
            Panel(
                "Requests of a commit",
                [
                    (
                        "sum(rate(mailqueue_group_commit_items_total[$__rate_interval]))"
                        " / sum(rate(mailqueue_group_commits_total[$__rate_interval]))",
                        "requests",
                    )
                ],
            ),
        ),
    ),
    (
        "Database",
        (
            Panel("Size", [("mailqueue_database_bytes", "database")], "bytes"),
            Panel("Free space", [("mailqueue_free_space_bytes", "{{host}} {{place}}")], "bytes"),
            Panel(
                "Connections of pools",
                [
                    (
                        "sum by (instance, state) (mailqueue_pool_connections)",
                        "{{instance}} {{state}}",
                    )
                ],
            ),
            Panel(
                "Checks",
                [("mailqueue_check_state > 0", "{{check}}")],
                kind="table",
                width=12,
                help="1: warning, 2: alarm. `mailqueue doctor` names the fix.",
            ),
            Panel(
                "Time since maintenance",
                [("mailqueue_maintenance_age_seconds", "{{task}}")],
                "s",
                width=12,
            ),
        ),
    ),
)


def queries() -> Iterator[str]:
    """Yield every query of the dashboard."""
    for _, panels in ROWS:
        for panel in panels:
            for expression, _ in panel.queries:
                yield expression


def dashboard() -> dict[str, object]:
    """Return the document."""
    found: list[dict[str, object]] = []
    y = 0
    for title, panels in ROWS:
        found.append(_placed({"type": "row", "title": title, "panels": []}, 0, y, _WIDTH, 1, found))
        x, y = 0, y + 1
        height = 4 if all(panel.kind == "stat" for panel in panels) else _HEIGHT
        for panel in panels:
            if x + panel.width > _WIDTH:
                x, y = 0, y + height
            found.append(_placed(_panel(panel), x, y, panel.width, height, found))
            x += panel.width
        y += height
    return {
        "uid": "mailqueue",
        "title": "mailqueue",
        "tags": ["mailqueue"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "15s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "browser",
        "templating": {
            "list": [
                {"name": "source", "label": "Source", "type": "datasource", "query": "prometheus"}
            ]
        },
        "panels": found,
    }


def _panel(panel: Panel) -> dict[str, object]:
    return {
        "type": panel.kind,
        "title": panel.title,
        "description": panel.help,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            {
                "refId": chr(ord("A") + number),
                "datasource": _SOURCE,
                "expr": expression,
                "legendFormat": legend or "__auto",
                "instant": panel.kind != "timeseries",
                "range": panel.kind == "timeseries",
                "format": "table" if panel.kind == "table" else "time_series",
            }
            for number, (expression, legend) in enumerate(panel.queries)
        ],
    }


def _placed(
    panel: dict[str, object],
    x: int,
    y: int,
    width: int,
    height: int,
    before: Sequence[object],
) -> dict[str, object]:
    return {"id": len(before) + 1, "gridPos": {"x": x, "y": y, "w": width, "h": height}, **panel}


if __name__ == "__main__":
    FILE.write_text(json.dumps(dashboard(), indent=2) + "\n", "utf-8")
