"""`mailqueue status`: lanes, sender accounts, workers, totals."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from datetime import timedelta

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.operations.overview import STATUSES
from tests import make
from tests.cli.support.invoked import Cli
from tests.mail.claim.steps import claim, settle


async def busy(conn: Conn) -> None:
    """One account with a limit, three mails of which one is held, one worker holding one mail."""
    await make.sender_account(conn, name="relay", daily_limit=100)
    await make.queued_emails(conn, 3, priority=1)
    await conn.execute(
        "UPDATE mailqueue.email_queue SET status = 'held' WHERE recipient_email LIKE 'person0%'"
    )
    worker = await make.worker(conn, host="mail-1")
    await make.claimed(conn, worker, limit=1)


def test_an_empty_installation_says_what_to_do_next(on_fresh_db: Cli) -> None:
    result = on_fresh_db("status")

    assert result.exit_code == 0, result.output
    assert "no emails are waiting" in result.stdout
    assert "mailqueue sender add" in result.stdout
    assert "mailqueue worker send" in result.stdout


def test_lanes_accounts_workers_and_totals_are_told(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(busy)

    document = on_fresh_db.json("status")

    assert document["totals"] == dict.fromkeys(STATUSES, 0) | {
        "pending": 1,
        "assigned": 1,
        "held": 1,
    }
    [lane] = document["lanes"]
    assert (lane["project"], lane["priority"], lane["route"]) == ("default", 1, "default")
    assert (lane["pending"], lane["due"], lane["assigned"], lane["held"]) == (1, 1, 1, 1)
    assert lane["oldest_wait"] >= 0
    [sender] = document["senders"]
    assert (sender["sender"], sender["daily_limit"], sender["headroom"]) == ("relay", 100, 99)
    [worker] = document["workers"]
    assert (worker["host"], worker["status"], worker["assigned"]) == ("mail-1", "running", 1)


def test_a_person_reads_the_same_as_tables(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(busy)

    shown = on_fresh_db("status").stdout

    for words in ("high", "relay", "mail-1", "running", "HEADROOM", "OLDEST"):
        assert words in shown


def test_what_holds_a_lane_up_is_named(on_fresh_db: Cli) -> None:
    async def stopped(conn: Conn) -> None:
        await make.sender_account(conn, name="relay", status="paused", status_reason="holidays")
        await make.queued_email(conn)
        await make.claimed(conn, await make.worker(conn))

    on_fresh_db.sql(stopped)

    document = on_fresh_db.json("status")

    assert document["lanes"][0]["blocked_reason"] == "paused"
    assert document["senders"][0]["status"] == "paused"


def test_a_lane_says_how_fast_it_goes_also_when_it_is_drained(on_fresh_db: Cli) -> None:
    async def ten_sent(conn: Conn) -> None:
        await make.sender_account(conn)
        await make.queued_emails(conn, 10, priority=1)
        await settle(conn, await claim(conn, await make.worker(conn)))

    on_fresh_db.sql(ten_sent)

    [lane] = on_fresh_db.json("status")["lanes"]
    assert (lane["priority"], lane["pending"], lane["sent_per_minute"]) == (1, 0, 2.0)
    assert "2.0" in on_fresh_db("status").stdout


def test_a_paused_campaign_is_named_at_its_lane(on_fresh_db: Cli) -> None:
    async def campaign(conn: Conn) -> None:
        await make.sender_account(conn)
        await make.queued_email(conn, campaign_id="spring")

    on_fresh_db.sql(campaign)
    on_fresh_db("pause", "campaign", "spring", "--for", "2h", "--reason", "wrong price")

    [lane] = on_fresh_db.json("status")["lanes"]
    assert lane["blocked_by"] == "campaign spring is paused: wrong price"
    assert lane["blocked_until"] is not None
    assert "campaign spring is paused: wrong price until" in on_fresh_db("status").stdout


def test_a_lane_outside_its_window_says_until_when(on_fresh_db: Cli) -> None:
    async def closed(conn: Conn) -> None:
        at = await make.scalar(conn, "SELECT now() AT TIME ZONE 'UTC'")
        begin, end = at + timedelta(hours=1), at + timedelta(hours=2)
        window = f"{begin:%H:%M}-{end:%H:%M} UTC"
        await conn.execute("UPDATE mailqueue.projects SET low_priority_window = %s", (window,))
        await make.sender_account(conn)
        await make.queued_email(conn, priority=3)
        await make.claimed(conn, await make.worker(conn))

    on_fresh_db.sql(closed)

    [lane] = on_fresh_db.json("status")["lanes"]
    assert lane["blocked_reason"] == "outside_window"
    assert lane["blocked_until"] is not None
    assert "low priority outside its window until" in on_fresh_db("status").stdout


def test_an_account_whose_limit_is_used_up_says_until_when(on_fresh_db: Cli) -> None:
    async def used_up(conn: Conn) -> None:
        await make.sender_account(conn, name="relay", daily_limit=0)

    on_fresh_db.sql(used_up)

    [sender] = on_fresh_db.json("status")["senders"]
    assert (sender["status"], sender["headroom"]) == ("paused_limit_reached", 0)
    assert sender["blocked_until"] is not None
    assert "daily limit used up until" in on_fresh_db("status").stdout


@pytest.mark.parametrize("options", [["--json"], []])
def test_watching_goes_on_until_it_is_interrupted_and_ends_clean(
    on_fresh_db: Cli, options: list[str]
) -> None:
    watching = subprocess.Popen(
        [sys.executable, "-m", "mailqueue", "status", "--watch", "0.2", *options],
        env=os.environ | {k: v for k, v in on_fresh_db.environment.items() if v},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout is not None
    try:
        lines = [watching.stdout.readline() for _ in range(2 if options else 120)]
    finally:
        watching.send_signal(signal.SIGINT)
        _, errors = watching.communicate(timeout=60)

    assert watching.returncode == 0, errors
    assert errors == ""
    if options:
        assert all("totals" in json.loads(line) for line in lines)
    else:
        assert "".join(lines).count("Workers") >= 2


def test_a_terminal_sees_one_picture_that_changes(on_fresh_db: Cli) -> None:
    ours, theirs = pty.openpty()
    watching = subprocess.Popen(
        [sys.executable, "-m", "mailqueue", "status", "--watch", "0.2"],
        env=os.environ
        | {k: v for k, v in on_fresh_db.environment.items() if v}
        | {"TERM": "xterm", "COLUMNS": "120", "LINES": "60"},
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    try:
        seen = _read_until(ours, b"Workers", times=2)
    finally:
        watching.send_signal(signal.SIGINT)
        code = watching.wait(timeout=60)
        os.close(ours)

    assert code == 0
    assert b"Traceback" not in seen
    assert b"\x1b[1A" in seen, "the cursor goes back up instead of the screen scrolling away"


def _read_until(descriptor: int, words: bytes, *, times: int) -> bytes:
    seen = b""
    deadline = time.monotonic() + 60
    while seen.count(words) < times and time.monotonic() < deadline:
        if select.select([descriptor], [], [], 1)[0]:
            seen += os.read(descriptor, 65536)
    return seen
