"""Every crash point in the code is tested, and an unused one costs nothing."""

import ast
import os
import re
import signal
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pytest

from mailqueue.core.crashpoints import VARIABLE, Action, Crashed, reach, reach_of
from tests.chaos.catalogue import SCENARIOS
from tests.chaos.points.matrix import CASES, ONCE_EACH, QUICK_MAILS, all_points
from tests.chaos.points.named import POINTS
from tests.chaos.sandbox import ScenarioSize
from tests.concurrency.running import Shipped
from tests.queue.kernel.test_crash_points import STEPS
from tests.rules.source import all_imports, modules, parsed

CRASHPOINTS = "mailqueue.core.crashpoints"


def name_of(argument: ast.expr) -> str:
    """Return the name of a point; `*.STEP` for a step of the queue kernel, which each queue has."""
    match argument:
        case ast.JoinedStr(values=[ast.FormattedValue(), ast.Constant(value=str(step))]):
            return f"*{step}"
        case _:
            return str(ast.literal_eval(argument))


def points_in_code() -> list[str]:
    """Return the name of each `reach("…")` of the package; fail for a name that is no literal."""
    trees = modules()
    theirs = {each.module for each in all_imports() if each.imported == CRASHPOINTS}
    return [
        name_of(node.args[0])
        for module in theirs
        for node in ast.walk(trees[module])
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "reach"
    ]


def named_in_other_tests(points: Collection[str]) -> set[str]:
    """Return every string, and its first word, of the other tests that mention one of the points:
    tests of a capability name its points.
    """
    here = Path(__file__).parent
    mentioned = re.compile("|".join(map(re.escape, points)) or "(?!)")
    return {
        word
        for path in here.parent.rglob("*.py")
        if here not in path.parents and mentioned.search(path.read_text("utf-8"))
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for word in (node.value, *node.value.split()[:1])
    }


def test_every_point_in_the_code_is_tried() -> None:
    in_code, tried = set(points_in_code()), {point.name for point in POINTS}
    tried |= {f"*.{step}" for step in STEPS}

    assert tried <= in_code, "points that are not in the code"
    left = in_code - tried
    assert left <= named_in_other_tests(left), "points that nothing tries"


def test_every_point_is_tried_with_every_action() -> None:
    assert len({point.name for point in POINTS}) == len(POINTS)
    assert len(CASES) == len(POINTS) * len(Action)
    assert {point for point, _ in ONCE_EACH} == set(POINTS)
    assert {action for _, action in ONCE_EACH} == set(Action)


@pytest.mark.anyio
@pytest.mark.timeout(900)  # a process a case, a few at a time on a busy machine
@pytest.mark.parametrize(
    ("mails", "cases"),
    [(QUICK_MAILS, len(POINTS)), pytest.param(40, len(CASES), marks=pytest.mark.soak)],
)
async def test_a_process_interrupted_at_any_point_loses_nothing(
    killable: Shipped, mails: int, cases: int
) -> None:
    (scenario,) = (each for each in SCENARIOS if each.run is all_points)

    found = await scenario.on(killable, ScenarioSize(mails, 0))

    assert not found.broken, "; ".join(found.broken[:20])
    assert found.faults == cases


def test_a_process_without_the_variable_passes_every_point() -> None:
    assert VARIABLE not in os.environ
    assert reach is reach_of(None)


def test_an_exception_comes_at_the_passing_that_was_named_and_not_again() -> None:
    armed = reach_of("claim.committed raise 2")
    armed("claim.committed")
    armed("mark.read")
    with pytest.raises(Crashed):
        armed("claim.committed")
    armed("claim.committed")


@pytest.mark.parametrize("words", ["claim.committed", "claim.committed explode 1", "a kill x"])
def test_words_that_name_no_action_stop_the_process_at_once(words: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        reach_of(words)


def test_a_killed_process_says_before_where_it_was() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from mailqueue.core.crashpoints import reach; reach('here')"],
        env={**os.environ, VARIABLE: "here kill 1"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert done.stderr == b"crash point here: kill\n"
