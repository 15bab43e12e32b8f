"""A client that guesses keys waits longer each time, then is refused, and is logged by address."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from mailqueue.core.errors import Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.projects.keys.cache import KeyCache
from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import Scope
from mailqueue.smtp.server.answer import SmtpReply
from mailqueue.smtp.server.handler import LoggedIn, LoginAttempt
from mailqueue.submission import authentication
from mailqueue.submission.authentication import (
    CHECK_SECONDS,
    MAX_FAILURES,
    MAX_PAUSE_SECONDS,
    WINDOW_SECONDS,
    Authenticator,
    network_of,
)
from mailqueue.submission.model import SubmissionClient
from mailqueue.submission.shares import ConnectionShares
from tests.logged import log_of

pytestmark = pytest.mark.anyio
WELL_FORMED = "mq_live_{:043d}"


class Clock:
    """A clock that advances by waiting or by request."""

    def __init__(self) -> None:
        self.seconds = 1_000.0
        self.waits: list[float] = []

    def now(self) -> float:
        return self.seconds

    async def wait(self, seconds: float) -> None:
        self.waits.append(seconds)


def gate_on(
    conn: Conn | None,
    clock: Clock,
    *,
    looked_up: list[float] | None = None,
    connections: int = 1_000,
) -> Authenticator:
    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        if looked_up is not None:
            looked_up.append(clock.seconds)
        if conn is None:
            raise Unavailable("PostgreSQL is away")
        yield conn

    async def message_bytes(_project: UUID) -> int:
        return 81

    shares = ConnectionShares(connections)
    return Authenticator(KeyCache(lend), message_bytes, shares, now=clock.now, wait=clock.wait)


async def tried(gate: Authenticator, key: str, *, address: str = "192.0.2.1") -> str:
    """Log in; return the reply's two codes, or `in`."""
    found = await gate.enter(LoginAttempt("apikey", key, address))
    return f"{found.code} {found.enhanced}" if isinstance(found, SmtpReply) else "in"


async def test_a_key_lets_in_under_any_name(conn: Conn) -> None:
    key = await issue_key(conn, "default", "k", is_test=False)

    found = await gate_on(conn, Clock()).enter(LoginAttempt("x", key.key.reveal(), "192.0.2.1"))

    assert isinstance(found, LoggedIn)
    assert found.message_bytes == 81
    assert isinstance(found.client, SubmissionClient)
    assert found.client.caller.id == key.record.id
    assert found.client.address == "192.0.2.1"


async def test_a_key_that_may_not_send_is_refused(conn: Conn) -> None:
    key = await issue_key(conn, "default", "k", is_test=False, scopes=[Scope.EMAIL_READ])

    assert await tried(gate_on(conn, Clock()), key.key.reveal()) == "535 5.7.8"


async def test_connections_beyond_a_project_s_share_are_refused_until_one_ends(conn: Conn) -> None:
    key = (await issue_key(conn, "default", "k", is_test=False)).key.reveal()
    gate = gate_on(conn, Clock(), connections=1)
    found = await gate.enter(LoginAttempt("x", key, "192.0.2.1"))
    assert isinstance(found, LoggedIn)
    assert found.leave is not None

    assert await tried(gate, key, address="192.0.2.2") == "454 4.7.0"
    found.leave()
    assert await tried(gate, key) == "in"


async def test_guessing_takes_longer_each_time_and_a_right_key_passes(conn: Conn) -> None:
    clock = Clock()
    gate = gate_on(conn, clock)
    key = (await issue_key(conn, "default", "k", is_test=False)).key.reveal()

    answers = [await tried(gate, f"guess {n}") for n in range(MAX_FAILURES)]

    assert answers == ["535 5.7.8"] * MAX_FAILURES
    assert clock.waits[:5] == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert max(clock.waits) == 8.0
    assert await tried(gate, "another guess") == "454 4.7.0"
    assert clock.waits[-1] == 8.0
    assert await tried(gate, key) == "in", "others behind the same address go on"
    assert await tried(gate, key, address="192.0.2.2") == "in"
    clock.seconds += WINDOW_SECONDS
    assert await tried(gate, "a guess after a while") == "535 5.7.8"


async def test_what_guessing_costs_the_database_is_bounded(conn: Conn) -> None:
    """Keys of an address that guesses are checked at intervals; what was right is not guessed."""
    clock, looked_up = Clock(), list[float]()
    gate = gate_on(conn, clock, looked_up=looked_up)
    known = (await issue_key(conn, "default", "k", is_test=False)).key.reveal()
    new = (await issue_key(conn, "default", "l", is_test=False)).key.reveal()
    assert await tried(gate, known) == "in"
    for _ in range(MAX_FAILURES):
        await tried(gate, "guess")
    looked_up.clear()
    clock.waits.clear()

    answers = {await tried(gate, WELL_FORMED.format(n)) for n in range(200)}

    assert answers == {"454 4.7.0"}
    assert len(looked_up) == pytest.approx(MAX_PAUSE_SECONDS / CHECK_SECONDS, abs=1)
    assert clock.waits[:4] == pytest.approx([0.0, 8.0, 0.2, 8.0])
    assert await tried(gate, known) == "in", "at once, however many wait"
    assert await tried(gate, new) == "454 4.7.0", "it may try again"
    clock.seconds += 1
    assert await tried(gate, new) == "in"
    assert await tried(gate, "guess", address="192.0.2.2") == "535 5.7.8"


async def test_a_network_of_ipv6_is_one_guesser(conn: Conn) -> None:
    gate = gate_on(conn, Clock())
    for number in range(MAX_FAILURES):
        await tried(gate, "guess", address=f"2001:db8::{number:x}")

    assert await tried(gate, "guess", address="2001:db8::ffff:1") == "454 4.7.0"
    assert await tried(gate, "guess", address="2001:db8:0:1::1") == "535 5.7.8"
    assert network_of("::ffff:192.0.2.1") == "192.0.2.1"
    assert network_of("fe80::1%eth0") == "fe80::/64"


async def test_a_failed_login_can_be_read_from_the_log(
    conn: Conn, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = log_of(authentication, monkeypatch)
    await tried(gate_on(conn, Clock()), "mq_live_secret", address="203.0.113.9")

    line = written.getvalue().decode()
    assert "submission.login_failed" in line
    assert "203.0.113.9" in line
    assert "mq_live_secret" not in line


async def test_while_the_database_is_away_no_login_is_refused_permanently() -> None:
    assert await tried(gate_on(None, Clock()), "mq_live_x") in ("454 4.7.0", "535 5.7.8")
    well_formed = "mq_live_" + "A" * 43
    clock = Clock()
    assert await tried(gate_on(None, clock), well_formed) == "454 4.7.0"
    assert clock.waits == []
