"""Every scenario in its shortest form; `scripts/chaos` runs longer ones."""

import pytest

from tests.chaos.catalogue import SCENARIOS, Scenario
from tests.concurrency.running import Shipped

pytestmark = pytest.mark.anyio

# What a scenario needs of the machine; see tests/needs.py.
NEED_BY_NAME = {
    "clocks-off": pytest.mark.faketime,
    "clocks-set": pytest.mark.faketime,
    "disk-full": pytest.mark.small_disk,
    "pooler-killed": pytest.mark.pgbouncer,
}
TRIED_ELSEWHERE = ("crash-points",)  # beside the points themselves


def _marked(scenario: Scenario) -> object:
    need = NEED_BY_NAME.get(scenario.name)
    return pytest.param(scenario, id=scenario.name, marks=() if need is None else need)


@pytest.mark.parametrize(
    "scenario", [_marked(each) for each in SCENARIOS if each.name not in TRIED_ELSEWHERE]
)
async def test_what_is_promised_holds_while(killable: Shipped, scenario: Scenario) -> None:
    found = await scenario.on(killable)

    assert not found.left_out, found.left_out
    assert not found.broken, f"{'; '.join(found.broken[:20])} ({found.fault}, {found.statuses})"


def test_every_need_is_of_a_scenario_there_is() -> None:
    assert NEED_BY_NAME.keys() <= {scenario.name for scenario in SCENARIOS}
