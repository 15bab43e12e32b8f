"""The server is killed under load and clients retry: nothing is lost, nothing is there twice."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.submission.killed_server import Answers, Server, hand_in
from tests.submission.programs import beside

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(1_800)]


@contextmanager
def handing_in(port: int, key: str, *, programs: int, mails: int) -> Iterator[Answers]:
    """Submit mails by several clients during the block, and wait for the end of all."""
    answers = Answers()
    threads = [
        threading.Thread(
            target=hand_in,
            args=(port, key, [f"m{program}-{number}" for number in range(mails)], answers),
            daemon=True,
        )
        for program in range(programs)
    ]
    for thread in threads:
        thread.start()
    yield answers
    for thread in threads:
        thread.join(900)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    ("programs", "mails", "kills"),
    [(4, 40, 1), pytest.param(8, 1_000, 30, marks=pytest.mark.soak)],
)
async def test_nothing_is_lost_and_nothing_is_there_twice(
    fresh_db: str, tmp_path: Path, programs: int, mails: int, kills: int
) -> None:
    async with connect(DatabaseSettings(Secret(fresh_db))) as conn:
        await make.sender_account(conn)
        key = (
            await issue_key(conn, "default", "k", is_test=False, requests_per_second=100_000)
        ).key.reveal()
        server = Server(fresh_db, tmp_path)

        def run() -> tuple[Answers, int]:
            server.start()
            with handing_in(server.port, key, programs=programs, mails=mails) as answers:
                answers.is_up.set()
                for number in range(kills):
                    answers.wait_for((number + 1) * programs * mails // (kills + 1))
                    answers.is_up.clear()
                    server.end(signal.SIGKILL)
                    server.start()
                    answers.is_up.set()
            return answers, server.end(signal.SIGTERM)

        answers, code = await beside(run)

        assert code == 0
        assert answers.faults == []
        found = await make.rows(conn, "SELECT subject, id FROM mailqueue.emails")
        assert dict(found) == answers.id_by_name
        assert len(found) == programs * mails
