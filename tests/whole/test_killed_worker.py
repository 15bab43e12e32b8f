"""A worker is killed while sending: nothing is lost, few duplicates, none with policy `hold`."""

import os
import signal
from collections import Counter

import pytest

from tests.whole.difficult_mails import inserts, letters
from tests.whole.running import Home, eventually, up
from tests.whole.sink import sink

pytestmark = pytest.mark.timeout(300)

IN_FLIGHT = 64
HELD = "SELECT recipient_email FROM mailqueue.held"
LEFT = "SELECT count(*) FROM mailqueue.email_queue WHERE status <> 'held'"


@pytest.mark.parametrize("count", [600, pytest.param(5_000, marks=pytest.mark.soak)])
def test_one_of_four_workers_killed_in_the_middle_loses_nothing(home: Home, count: int) -> None:
    mails = letters(count, "killed.example")
    with up(home, "--workers", "4") as running, sink(answer_after=0.005) as relay:
        home.json(
            *("sender", "add", "--name", "relay", "--host", "127.0.0.1", "--tls", "none"),
            *("--port", str(relay.port), "--from", "shop@example.com"),
        )
        pids = eventually(running.workers, lambda pids: len(pids) == 4)

        running.psql(inserts(mails[::2], delivery="hold"))
        running.psql(inserts(mails[1::2], delivery="resend"))
        eventually(lambda: len(relay), lambda taken: taken >= count // 3)
        os.kill(pids[1], signal.SIGKILL)

        eventually(lambda: running.value(LEFT), lambda left: left == 0, seconds=120)
        held = {row[0] for row in running.rows(HELD)}
        times = Counter(relay.addresses())
        twice = {address for address, copies in times.items() if copies > 1}
        instead = eventually(running.workers, lambda now: len(now) == 4)
        assert pids[1] not in instead
        assert set(times) | held == {mail.to for mail in mails}
        assert max(times.values()) <= 2
        assert len(twice) + len(held) <= IN_FLIGHT
        assert held <= {mail.to for mail in mails[::2]}
        assert twice.isdisjoint(mail.to for mail in mails[::2])
        assert home.json("verify")["adds_up"]
