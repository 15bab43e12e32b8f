"""Stock: with Debian's default settings no plan of accepting and sending scans or is compiled."""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.stock.plans import Plan, told
from tests.stock.workload import ACTS

pytestmark = [pytest.mark.anyio, pytest.mark.debian_server]
MOST = 10_000
"""A tenth of `jit_above_cost`; where scans are turned off, one that is needed costs 1e10."""


def wrong(plans: list[Plan]) -> list[str]:
    return sorted({str(each) for each in plans if each.cost > MOST or each.compiled > 0})


async def jit(conn: Conn) -> str:
    return str(await make.scalar(conn, "SHOW jit"))


@pytest.mark.parametrize("name", ACTS)
async def test_plans_are_cheap_and_not_compiled(stock: DatabaseSettings, name: str) -> None:
    act, functions = ACTS[name]
    async with connect(stock) as conn:
        await conn.execute("SET jit = on")
        with told(conn) as plans:
            await act(conn)

    assert wrong(plans) == []
    assert functions <= {function for plan in plans for function in plan.functions}


async def test_a_look_up_that_must_scan_is_found_and_compiled(stock: DatabaseSettings) -> None:
    """Proves that this server would scan and compile otherwise."""
    async with connect(stock) as conn:
        await conn.execute("SET jit = on; SET enable_seqscan = off; SET enable_indexonlyscan = off")
        with told(conn) as plans:
            await conn.execute("SELECT count(*) FROM mailqueue.refusals WHERE message <> ''")

    [plan] = plans
    assert plan.cost > MOST
    assert plan.compiled > 0
    assert wrong(plans) != []
