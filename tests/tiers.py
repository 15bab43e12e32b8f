"""Sorts the tests into tiers by what they need, and keeps the quick ones to it.

A run without paths takes the quick tier, with `--deep` the deep one. Tests that are named by
their path or chosen by `-m` run whatever their tier. `scripts/check` runs the rules.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import croniter  # noqa: F401  it runs `file` when it is imported
import pytest

from tests.needs import NEEDS, marks_of

QUICK, DEEP, ALL = "quick", "deep", "all"
RULES = "tests/rules"
DEEP_PLACES = (
    "tests/adapters/sending/test_ses_judge.py",
    "tests/adding",
    "tests/analytics/ab_tests/test_killed.py",
    "tests/analytics/exports/test_killed.py",
    "tests/analytics/test_kills.py",
    "tests/analytics/test_recount.py",
    "tests/api/hostile",
    "tests/api/http/test_contract.py",
    "tests/api/http/test_fuzzed.py",
    "tests/api/http/test_waiting_requests.py",
    "tests/audit/test_crashes.py",
    "tests/backup",
    "tests/bridge/test_lost_connections.py",
    "tests/chaos",
    "tests/cli/status/test_commands.py",
    "tests/cli/test_completion.py",
    "tests/cli/test_psql.py",
    "tests/cli/worker",
    "tests/clients/generated",
    "tests/clients/sendgrid/test_keys.py",
    "tests/clients/test_node.py",
    "tests/concurrency",
    "tests/contacts/sends/test_killed.py",
    "tests/core/test_commands.py",
    "tests/cost",
    "tests/db/test_passwords.py",
    "tests/deploy/test_container_logins.py",
    "tests/deploy/test_image.py",
    "tests/deploy/test_scripts.py",
    "tests/docs/test_site.py",
    "tests/embedded",
    "tests/failover",
    "tests/hostile",
    "tests/imports/test_killed.py",
    "tests/inbound/bounces/test_postfix.py",
    "tests/inbound/test_frame_crashes.py",
    "tests/invariants",
    "tests/mail/claim/test_scale.py",
    "tests/mail/claim/test_suspects.py",
    "tests/mail/custom_smtp/test_queue_crashes.py",
    "tests/mail/custom_smtp/test_queue_rows.py",
    "tests/mail/custom_smtp/test_send_now.py",
    "tests/mail/custom_smtp/test_worker_send.py",
    "tests/mail/limits/test_domains.py",
    "tests/mail/limits/test_pacing.py",
    "tests/mail/limits/test_platform.py",
    "tests/mail/limits/test_together.py",
    "tests/mail/limits/test_windows.py",
    "tests/mail/routing/test_routes.py",
    "tests/mail/send/test_poison.py",
    "tests/maintenance/test_crashes.py",
    "tests/maintenance/test_s3.py",
    "tests/operations/test_space.py",
    "tests/planted",
    "tests/poolers",
    "tests/process",
    "tests/production",
    "tests/projects/bounds/test_together.py",
    "tests/publishing/test_kills.py",
    "tests/publishing/test_order.py",
    "tests/queue/extremes",
    "tests/queue/kernel/test_crash_points.py",
    "tests/queue/kernel/test_extremes.py",
    "tests/queue/kernel/test_isolation.py",
    "tests/queue/kernel/test_neighbours.py",
    "tests/queue/kernel/test_ready.py",
    "tests/queue/kernel/test_watch.py",
    "tests/queue/test_upkeep.py",
    "tests/recipes",
    "tests/rendering/test_compile_process.py",
    "tests/rules/scripts",
    "tests/rules/test_locale.py",
    "tests/schedules/test_killed.py",
    "tests/schedules/test_large_list.py",
    "tests/schedules/test_moved_clock.py",
    "tests/sequences/test_kills.py",
    "tests/stock",
    "tests/stream/test_kills.py",
    "tests/submission/test_fuzzed.py",
    "tests/submission/test_kills.py",
    "tests/submission/test_many_by_programs.py",
    "tests/submission/test_many_recipients.py",
    "tests/submission/test_programs.py",
    "tests/submission/test_together.py",
    "tests/timed_events/test_kills.py",
    "tests/traces/test_kills.py",
    "tests/tracking/test_machines.py",
    "tests/upgrade",
    "tests/watch/gmail/test_kills.py",
    "tests/watch/test_kills.py",
    "tests/webhooks/test_crashes.py",
    "tests/webhooks/test_neighbours.py",
    "tests/whole",
    "tests/workers",
)
"""Folders and files that kill processes, race, or drive programs that are not ours."""
LONGEST = (
    "tests/chaos",
    "tests/console/test_accessible.py",
    "tests/adding",
    "tests/queue/extremes",
    "tests/deploy/test_image.py",
    "tests/deploy/test_container_logins.py",
    "tests/analytics/test_recount.py",
    "tests/cost",
    "tests/whole/starting",
    "tests/production",
    "tests/backup",
    "tests/concurrency",
    "tests/planted",
    "tests/failover",
    "tests/invariants",
    "tests/clients/generated",
)
"""Folders and files that run first, so that no process is left alone with them at the end."""
_COMPILES = "mailqueue.rendering.process.child"
"""The process that compiles templates: tests of templates start it, and wait for its answers."""
_MARKED = re.compile(rf"\bmark\.({'|'.join((DEEP, *NEEDS))})\b")
"""What stands in a file with a deep test that is in none of DEEP_PLACES."""
_PROCESSES = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "time.sleep"}


def add_option(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption(
        f"--{DEEP}",
        dest="tier",
        action="store_const",
        const=DEEP,
        help="run the deep tier: kills, races, browsers, other programs",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Choose the tier; processes of a parallel run have the choice of the main one."""
    config.addinivalue_line("markers", f"{DEEP}: kills, races, or drives other programs")
    if config.option.tier is None:
        is_chosen = config.args_source is pytest.Config.ArgsSource.ARGS or config.option.markexpr
        config.option.tier = ALL if is_chosen else QUICK


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what cannot be of the tier, without importing it."""
    if config.option.tier == ALL:
        return None
    place = _place(collection_path, config)
    if config.option.tier == QUICK:
        is_other = place in DEEP_PLACES
    else:
        is_other = collection_path.name.startswith("test_") and _is_quick(collection_path, config)
    return True if place == RULES or is_other else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the deep tests, and deselect those of another tier.

    Raises:
        pytest.UsageError: a file does not show that it holds deep tests.
    """
    for item in items:
        if not item.get_closest_marker(DEEP) and _is_deep(item, config):
            item.add_marker(DEEP)
    deep = {item.path for item in items if item.get_closest_marker(DEEP)}
    for file in deep:
        if _is_quick(file, config):
            raise pytest.UsageError(f"{file} has deep tests and no line with mark.{DEEP} or alike")
    if config.option.tier == ALL:
        return
    wanted = config.option.tier == DEEP
    others = [item for item in items if bool(item.get_closest_marker(DEEP)) is not wanted]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if bool(item.get_closest_marker(DEEP)) is wanted]
    items.sort(key=lambda item: _rank(_place(item.path, config)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a quick test that starts or signals a process, or sleeps."""
    if item.get_closest_marker(DEEP):
        return (yield)
    with _guard.on():
        return (yield)


def _rank(place: str) -> int:
    """Return the position of a file in LONGEST; files that are not there come last."""
    found = (rank for rank, longest in enumerate(LONGEST) if place.startswith(longest))
    return next(found, len(LONGEST))


def _is_deep(item: pytest.Item, config: pytest.Config) -> bool:
    if not NEEDS.keys().isdisjoint(marks_of(item)):
        return True
    return _is_deep_place(item.path, config)


def _is_quick(file: Path, config: pytest.Config) -> bool:
    """Return whether no test of a file can be deep: each process of a run would import it."""
    is_file = file.suffix == ".py" and not _is_deep_place(file, config)
    return is_file and not _MARKED.search(file.read_text("utf-8"))


def _is_deep_place(path: Path, config: pytest.Config) -> bool:
    return _is_deep_below(path, config.rootpath)


@cache  # asked for each test, of its file
def _is_deep_below(path: Path, root: Path) -> bool:
    return any(_path_below(each, root) in DEEP_PLACES for each in (path, *path.parents))


def _place(path: Path, config: pytest.Config) -> str:
    return _path_below(path, config.rootpath)


def _path_below(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else ""


class _Guard:
    """Refuses what a quick test may not do, while it runs. Mutable."""

    def __init__(self) -> None:
        self._is_on = False
        self._is_set = False

    @contextmanager
    def on(self) -> Iterator[None]:
        """Refuse during the block."""
        if not self._is_set:
            sys.addaudithook(self._check)
            self._is_set = True
        self._is_on = True
        try:
            yield
        finally:
            self._is_on = False

    def _check(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._is_on or event not in _PROCESSES:
            return
        if event == "subprocess.Popen" and _COMPILES in arguments[1]:
            return
        raise AssertionError(f"{event}: mark this test deep, or let it wait for an event")


_guard = _Guard()
