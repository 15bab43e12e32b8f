"""Debian's Prometheus on loopback, with a folder of its own."""

import json
import shutil
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from mailqueue.embedded.ports import free_port

_PATIENCE_SECONDS = 60.0


def lacks_prometheus() -> str | None:
    """Return why no Prometheus can be run here."""
    found = shutil.which("prometheus") and shutil.which("promtool")
    return None if found else "no prometheus here"


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A running Prometheus."""

    url: str

    def get(self, path: str, **query: str) -> Any:
        """Return what its API answers; an error of a query is an assertion."""
        address = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                document = json.load(answer)
        except urllib.error.HTTPError as exc:
            raise AssertionError(exc.read().decode()) from exc
        assert document["status"] == "success", document
        return document["data"]

    def query(self, expression: str) -> list[Any]:
        """Return the series of a PromQL expression now."""
        found: list[Any] = self.get("query", query=expression)["result"]
        return found


@contextmanager
def scraping(
    folder: Path, *, config: Path, targets: Sequence[str], at_once: bool = False
) -> Iterator[Prometheus]:
    """Run Prometheus with a configuration whose targets are replaced, scraping each second.

    The first target has the figures of the database. With `at_once` alerts fire as soon as their
    condition is true, without the time for which it has to last.
    """
    settings = yaml.safe_load(config.read_text())
    settings["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    folder.mkdir()
    rules = [config.parent / name for name in settings["rule_files"]]
    if at_once:
        rules = [_at_once(file, folder) for file in rules]
    settings["rule_files"] = [str(file) for file in rules]
    for job in settings["scrape_configs"]:
        of_database = job["job_name"] == "mailqueue_database"
        job["static_configs"] = [{"targets": list(targets[:1] if of_database else targets)}]
        job["scrape_timeout"] = "1s"
    (folder / "prometheus.yml").write_text(yaml.safe_dump(settings))
    port = free_port()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        running = Prometheus(f"http://127.0.0.1:{port}")
        try:
            _await(running, process, folder / "log")
            yield running
        finally:
            process.terminate()
            process.wait(timeout=30)


def _at_once(file: Path, folder: Path) -> Path:
    """Write a copy of a file of rules whose alerts do not wait; return its path."""
    document = yaml.safe_load(file.read_text())
    for group in document["groups"]:
        for rule in group["rules"]:
            rule.pop("for", None)
    copy = folder / file.name
    copy.write_text(yaml.safe_dump(document))
    return copy


def _await(running: Prometheus, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            targets = running.get("targets")["activeTargets"]
            if targets and all(each["health"] != "unknown" for each in targets):
                return
        except (OSError, AssertionError):  # it does not answer yet, or replays its log
            pass
        time.sleep(0.2)
    raise AssertionError(log.read_text())
