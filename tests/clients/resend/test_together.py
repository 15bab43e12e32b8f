"""Changes of one automation of Resend's API at the same time: none undoes another, or blocks it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import resend

from mailqueue.db.pool import connect
from tests.clients.resend.test_automations import series
from tests.clients.serving import Served

pytestmark = pytest.mark.usefixtures("resend_here")
Automations = resend.Automations
WAITS = """
SELECT EXISTS (SELECT FROM pg_stat_activity AS a
                WHERE pg_backend_pid() = ANY (pg_blocking_pids(a.pid)))
"""


@pytest.fixture(scope="module", autouse=True)
def furnished(site: Served) -> None:
    for slug in ("welcome", "tips"):
        site.add_template(slug, subject=slug, html="<p>{{ plan }} {{ kind }}</p>")


def meanwhile(site: Served, hold: str, request: Callable[[], Any], then: str) -> Any:
    """Return the response to a request that waits for a transaction: it executes `hold` before,
    and `then` once the request waits.
    """

    async def work() -> Any:
        async with connect(site.database) as conn:
            async with conn.transaction():
                await conn.execute(hold.encode())
                answering = asyncio.create_task(asyncio.to_thread(request))
                for _ in range(3000):
                    (is_waiting,) = await (await conn.execute(WAITS)).fetchone() or (False,)
                    if is_waiting:
                        break
                    await asyncio.sleep(0.01)
                else:
                    raise AssertionError("the request never waited for a lock")
                await conn.execute(then.encode())
            return await answering

    return site.run(work())


def test_a_new_name_does_not_enable_what_is_stopped_meanwhile(site: Served) -> None:
    made = series()
    meanwhile(
        site,
        "SELECT mailqueue.lock_key('event rules ' || project_id) FROM mailqueue.event_rules",
        lambda: Automations.update({"automation_id": made, "name": "Hello"}),
        "UPDATE mailqueue.event_rules SET is_enabled = false;"
        ' UPDATE mailqueue.project_rules SET settings = settings || \'{"status": "disabled"}\'',
    )
    shown: Any = Automations.get(made)

    assert (shown["name"], shown["status"]) == ("Hello", "disabled")
    assert site.rows("SELECT is_enabled FROM mailqueue.event_rules") == [(False,)]
    Automations.remove(made)


def test_a_removal_waits_for_a_change_of_steps_and_is_no_deadlock(site: Served) -> None:
    made = series()
    removed = meanwhile(
        site,
        "SELECT FROM mailqueue.sequences WHERE removed_at IS NULL FOR NO KEY UPDATE",
        lambda: Automations.remove(made),
        "UPDATE mailqueue.event_rules SET event_type = 'another'",
    )

    assert removed["deleted"] is True
    assert site.rows("SELECT 1 FROM mailqueue.event_rules") == []
