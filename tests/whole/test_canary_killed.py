"""A worker is killed with a canary on its way: its absence is told, and one email is counted."""

import os
import signal

import pytest

from tests.whole.running import Home, eventually, up
from tests.whole.sink import sink

pytestmark = pytest.mark.timeout(300)

HOLDER = (
    "SELECT w.pid FROM mailqueue.email_queue AS q JOIN mailqueue.workers AS w ON w.id = q.worker_id"
    " WHERE q.category = 'canary'"
)
STATE = "SELECT state FROM mailqueue.health WHERE name = 'canaries'"
LATE = (
    "SELECT value FROM mailqueue.gauges() WHERE name = 'mailqueue_canary_late'"
    " AND labels @> '{sent}'"
)
FOUND = (
    "SELECT array_agg(h.id) = min(c.email_ids) AND count(*) = 1 FROM mailqueue.canaries AS c"
    " LEFT JOIN mailqueue.email_history AS h ON h.category = 'canary' AND h.status = 'sent'"
)
QUEUED = "SELECT count(*) FROM mailqueue.email_queue WHERE category = 'canary'"


def test_a_canary_of_a_killed_worker_alerts_while_it_is_absent_and_is_counted_once(
    home: Home,
) -> None:
    with up(home, "--workers", "2") as running, sink(answer_after=60) as relay:
        home.json("project", "add", "canary")
        home.json(
            *("sender", "add", "--project", "canary", "--name", "relay", "--tls", "none"),
            *("--host", "127.0.0.1", "--port", str(relay.port), "--from", "shop@example.com"),
        )
        home.json(
            *("canary", "set", "relay", "--project", "canary", "--to", "ops@example.com"),
            *("--every", "1d"),
        )
        eventually(lambda: len(relay), lambda taken: taken == 1)
        running.psql("UPDATE mailqueue.canaries SET set_up_at = now() - interval '7 d'")
        os.kill(running.value(HOLDER), signal.SIGKILL)
        relay.answer_after = 0

        assert running.value(STATE) == "alarm"
        assert running.value(LATE) == 1
        eventually(lambda: running.value(QUEUED), lambda left: left == 0, seconds=120)
        assert running.value(FOUND)
        assert len(relay) <= 2, "an email of unknown outcome is sent again once"
        assert running.value(STATE) == "ok"
        assert running.value(LATE) == 0
