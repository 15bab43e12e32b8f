"""`mailqueue up` recovers from a kill of itself, and of its PostgreSQL."""

import os
import signal

import psycopg
import pytest

from tests.whole.difficult_mails import Letter, inserts, letters, read
from tests.whole.running import Home, Up, eventually, has_started, is_running, up

pytestmark = pytest.mark.timeout(300)


def test_killed_alone_it_takes_its_workers_along_and_the_next_start_sends_the_rest(
    home: Home,
) -> None:
    mails = letters(400, "killed.example")
    with up(home, "--workers", "2") as first:
        pids = eventually(first.children, has_started)
        # Sent only while the account lets it: something is surely left when it dies.
        home.json("sender", "limits", "trap", "--daily-limit", "100")
        first.psql(inserts(mails))
        # Recorded, not only caught: killed in between, the last would be in doubt for minutes.
        left = "SELECT count(*) FROM mailqueue.email_queue"
        eventually(lambda: first.value(left), lambda count: count == 300)
        assert first.count_caught("killed.example") == 100
        first.process.kill()
        first.process.wait()
        eventually(lambda: any(map(is_running, pids)), lambda running: not running)
    with up(home, "--workers", "2") as second:
        home.json("sender", "limits", "trap", "--daily-limit", "none")
        _arrive_once_each(second, mails)


@pytest.mark.parametrize("count", [200, pytest.param(600, marks=pytest.mark.soak)])
def test_when_its_postgresql_is_killed_it_starts_another_and_loses_nothing(
    home: Home, count: int
) -> None:
    mails = letters(count, "crash.example")
    with up(home, "--workers", "2") as running:
        killed = running.postmaster()
        running.psql(inserts(mails[: count // 2]))
        os.kill(killed, signal.SIGKILL)
        eventually(lambda: _is_answering(running))

        assert running.postmaster() != killed
        running.psql(inserts(mails[count // 2 :]))
        left = "SELECT count(*) FROM mailqueue.email_queue"
        # What the trap could not keep is deferred for a minute: the test does not wait that long.
        eventually(lambda: running.hasten() == running.value(left) == 0)
        arrived = {letter.to: letter for letter in map(read, running.caught("crash.example"))}
        assert arrived == {mail.to: mail.arrived() for mail in mails}
        assert home.json("verify")["adds_up"]
        assert running.stop() == 0


def _is_answering(running: Up) -> bool:
    try:
        return bool(running.value("SELECT true"))
    except psycopg.OperationalError:
        return False


def _arrive_once_each(running: Up, mails: list[Letter]) -> None:
    domain = mails[0].to.partition("@")[2]
    eventually(lambda: running.count_caught(domain), lambda count: count >= len(mails))
    left = "SELECT count(*) FROM mailqueue.email_queue"
    eventually(lambda: running.value(left), lambda count: count == 0)
    arrived = sorted(map(read, running.caught(domain)))

    assert arrived == sorted(mail.arrived() for mail in mails)
    assert running.home.json("verify")["adds_up"]
