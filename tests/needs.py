"""Deselects tests that this machine cannot run, and lists them at the end of the run."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.bridge.server import lacks_rabbitmq
from tests.chaos.scenarios.clocks import NO_LIBRARY, faketime_library
from tests.chaos.scenarios.disks import lacks_small_disk
from tests.clients.node import lacks_node_clients
from tests.deploy.prometheus import lacks_prometheus
from tests.deploy.proxies import lacks_caddy, lacks_nginx
from tests.dkim.signing import lacks_opendkim
from tests.poolers.option import is_pooled, why_direct
from tests.poolers.pgbouncer import lacks_pgbouncer
from tests.production.following import lacks_production
from tests.stock.debian import lacks_debian_server
from tests.watch.dovecot import lacks_dovecot
from tests.whole import machine

SOAK = "soak"
REQUIRE = "--require"
CHROMIUM = Path("/usr/bin/chromium")
LONG = (
    "tests/chaos/",
    "tests/queue/kernel/",
    "tests/whole/",
    "tests/console/test_accessible.py",
    "tests/concurrency/",
    "tests/backup/",
    "tests/production/",
    "tests/adding/",
    "tests/failover/",
    "tests/invariants/",
    "tests/analytics/test_recount.py",
    "tests/mail/send/test_poison.py",
    "tests/webhooks/test_neighbours.py",
)
"""Files and folders whose tests take minutes together or half a minute each, the longest first."""
_LEFT_OUT = pytest.StashKey[list[str]]()


def _lacks_browser() -> str | None:
    return None if CHROMIUM.exists() else "no chromium here"


def _lacks_systemd() -> str | None:
    return None if shutil.which("systemd-analyze") else "no systemd-analyze here"


def _lacks_faketime() -> str | None:
    return None if faketime_library() else NO_LIBRARY


def _lacks_shell(name: str) -> Callable[[], str | None]:
    return lambda: None if shutil.which(name) else f"no {name} here"


NEEDS: Mapping[str, Callable[[], str | None]] = {
    **machine.NEEDS,
    "browser": _lacks_browser,
    "caddy": lacks_caddy,
    "debian_server": lacks_debian_server,
    "dovecot": lacks_dovecot,
    "faketime": _lacks_faketime,
    "nginx": lacks_nginx,
    "node_clients": lacks_node_clients,
    "opendkim": lacks_opendkim,
    "small_disk": lacks_small_disk,
    "pgbouncer": lacks_pgbouncer,
    "production": lacks_production,
    "prometheus": lacks_prometheus,
    "rabbitmq": lacks_rabbitmq,
    "systemd": _lacks_systemd,
    "zsh": _lacks_shell("zsh"),
    "fish": _lacks_shell("fish"),
}


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers; fail if a required test cannot run here.

    Raises:
        pytest.UsageError: naming what this machine lacks.
    """
    config.addinivalue_line("markers", f"{SOAK}: long; runs only with -m {SOAK}")
    for name in NEEDS:
        config.addinivalue_line("markers", f"{name}: runs where the machine has it")
    for name in config.getoption(REQUIRE, []):
        if name not in NEEDS:
            raise pytest.UsageError(f"{REQUIRE} {name}: no tests are marked so")
        if (why := NEEDS[name]()) is not None:
            raise pytest.UsageError(f"tests marked {name} have to run: {why}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests that cannot run here."""
    marks = {name for item in items for name in marks_of(item)}
    asked = [name for name in NEEDS if name in marks]
    lacking = {name: why for name in asked if (why := NEEDS[name]()) is not None}
    reasons = {item: why for item in items if (why := _why_not(config, item, lacking)) is not None}
    config.stash[_LEFT_OUT] = [f"{item.nodeid}: {why}" for item, why in reasons.items()]
    if reasons:
        config.hook.pytest_deselected(items=list(reasons))
    items[:] = sorted((item for item in items if item not in reasons), key=_place)


def _place(item: pytest.Item) -> int:
    """Move long tests to the beginning: in parallel runs the last must not be the longest."""
    for place, begin in enumerate(LONG):
        if item.nodeid.startswith(begin):
            return place
    return len(LONG)


def marks_of(item: pytest.Item) -> set[str]:
    """Return the names of the marks of a test: asking for each of ours takes far longer."""
    return {mark.name for mark in item.iter_markers()}


def _why_not(config: pytest.Config, item: pytest.Item, lacking: Mapping[str, str]) -> str | None:
    marks = marks_of(item)
    if SOAK in marks and SOAK not in config.getoption("markexpr"):
        return f"long, runs with -m {SOAK}"
    if is_pooled(config) and (why_not_pooled := why_direct(item.nodeid)):
        return why_not_pooled
    return next((why for name, why in lacking.items() if name in marks), None)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Pass the list of deselected tests to the main process of a parallel run."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = session.config.stash.get(_LEFT_OUT, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over the list of one process: all have the same."""
    node.config.stash[_LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", [])


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """List the deselected tests."""
    left_out = config.stash.get(_LEFT_OUT, [])
    if left_out:
        terminalreporter.section("left out on this machine")
        for line in left_out:
            terminalreporter.line(line)
