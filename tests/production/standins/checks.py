"""Prints what a host is like after docs/production.md, as JSON."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any


def listening() -> list[str]:
    """Return the addresses of other hosts' reach on which a process listens."""
    done = subprocess.run(["ss", "-Hltn"], capture_output=True, text=True, check=True)
    return sorted({line.split()[3] for line in done.stdout.splitlines()})


def sql(query: str) -> list[str]:
    """Return the rows of a query."""
    command = ["runuser", "-u", "postgres", "--", "psql", "-XAtd", "mailqueue", "-c", query]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")
    return done.stdout.splitlines()


def prometheus(path: str) -> Any:
    """Return what Prometheus answers."""
    with urllib.request.urlopen(f"http://127.0.0.1:9090/api/v1/{path}") as answer:
        return json.load(answer)["data"]


def secrets() -> list[str]:
    """Return every secret of the host."""
    files = [
        *Path("/etc/mailqueue").iterdir(),
        Path("/root/relay.password"),
        Path("/root/shop.key"),
    ]
    return [file.read_text().strip() for file in files]


def owners() -> dict[str, str]:
    """Return owner and mode of what has secrets."""
    found = {}
    for path in (
        "/etc/mailqueue",
        "/etc/mailqueue/master.key",
        "/etc/pgbackrest/conf.d/passphrase.conf",
    ):
        status = Path(path).stat()
        found[path] = f"{Path(path).owner()} {status.st_mode & 0o777:o}"
    return found


arguments = Path("/root/arguments").read_text("utf-8", "replace")
logs = "".join(file.read_text("utf-8", "replace") for file in Path("/var/log/standin").iterdir())
targets = prometheus("targets")["activeTargets"]
sys.stdout.write(
    json.dumps(
        {
            "listening": listening(),
            "logins": sorted(
                set(
                    sql(
                        "SELECT usename FROM pg_stat_activity WHERE application_name ~ '^mailqueue'"
                    )
                )
            ),
            "mighty": sql(
                "SELECT rolname FROM pg_roles WHERE rolname IN ('api', 'worker', 'migrate')"
                " AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls OR rolreplication)"
            ),
            "checks": sql("SELECT name || ': ' || found FROM mailqueue.health WHERE state <> 'ok'"),
            "relayed": len(list(Path("/root/relay").iterdir())),
            "targets": {one["scrapeUrl"]: one["health"] for one in targets},
            "rules": len(prometheus("rules")["groups"][0]["rules"]),
            "firing": sorted(one["labels"]["alertname"] for one in prometheus("alerts")["alerts"]),
            "secrets_in_arguments": sum(secret in arguments for secret in secrets()),
            "secrets_in_logs": sum(secret in logs for secret in secrets()),
            "arguments_seen": arguments.count("\n"),
            "owners": owners(),
            "backups": Path("/var/lib/mailqueue-metrics/mailqueue_backup.prom").read_text(),
        },
        indent=1,
    )
)
