"""Every scenario, as short as it can be and still strike; `scripts/chaos` runs them long."""

import sys

import pytest

from tests.chaos.catalogue import SCENARIOS, Scenario
from tests.concurrency.running import Shipped

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_what_is_promised_holds_while(
    killable: Shipped, scenario: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    found = await scenario.on(killable)

    if found.left_out:
        with capsys.disabled():
            sys.stderr.write(f"\n{scenario.name} LEFT OUT: {found.left_out}\n")
    assert not found.broken, f"{'; '.join(found.broken[:20])} ({found.fault}, {found.statuses})"
