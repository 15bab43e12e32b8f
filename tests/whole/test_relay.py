"""A real relay: an account added while workers run is used, its limit holds, it can be paused."""

import smtplib
from collections.abc import Iterator

import pytest

from tests.whole.difficult_mails import inserts, letters, read
from tests.whole.running import Up, eventually, workers
from tests.whole.sink import PASSWORD, USERNAME, Sink, sink

pytestmark = pytest.mark.timeout(300)

LIMIT_AND_PROCESSES = [(100, 4), pytest.param(1_000, 16, marks=pytest.mark.soak)]


@pytest.fixture
def relay() -> Iterator[Sink]:
    with sink() as server:
        yield server


def project_with_relay(up: Up, project: str, relay: Sink, *options: str, **variables: str) -> None:
    """Create a project whose only account is the relay, without notifying running workers."""
    up.rows("INSERT INTO mailqueue.projects (name) VALUES (%s) RETURNING id", project)
    add = ("sender", "add", "--project", project, "--name", "relay", "--host", "127.0.0.1")
    given = ("--port", str(relay.port), "--tls", "none", "--from", "Shop <shop@example.com>")
    up.home.json(*add, *given, *options, **variables)


def test_an_account_added_while_workers_run_is_used_at_once(shared_up: Up, relay: Sink) -> None:
    mails = letters(40, "added.example")
    project_with_relay(shared_up, "added", relay)

    shared_up.psql(inserts(mails, project="added"))

    eventually(lambda: len(relay), lambda count: count >= len(mails))
    arrived = sorted(map(read, relay.messages))
    assert arrived == sorted(mail.arrived() for mail in mails)
    assert shared_up.count_caught("added.example") == 0


def test_workers_log_in_with_the_sealed_password(shared_up: Up) -> None:
    with sink(needs_login=True) as relay:
        with (
            smtplib.SMTP("127.0.0.1", relay.port) as stranger,
            pytest.raises(smtplib.SMTPException),
        ):
            stranger.sendmail("a@example.com", ["b@example.com"], b"Subject: no\r\n\r\nno\r\n")
        login = ("--username", USERNAME, "--password-env", "RELAY_PASSWORD")
        project_with_relay(shared_up, "sealed", relay, *login, RELAY_PASSWORD=PASSWORD)

        shared_up.psql(inserts(letters(5, "sealed.example"), project="sealed"))

        eventually(lambda: len(relay), lambda count: count == 5)
    sealed = "SELECT smtp_password FROM mailqueue.sender_accounts WHERE smtp_username = %s"
    assert PASSWORD.encode() not in bytes(shared_up.value(sealed, USERNAME))
    assert PASSWORD not in shared_up.log.read_text()


@pytest.mark.parametrize(("limit", "processes"), LIMIT_AND_PROCESSES)
def test_no_number_of_workers_overshoots_a_daily_limit(
    shared_up: Up, relay: Sink, limit: int, processes: int
) -> None:
    project, domain, more = f"limited{limit}", f"limited{limit}.example", limit // 2
    project_with_relay(shared_up, project, relay, "--daily-limit", str(limit))
    running = len(shared_up.workers())
    with workers(shared_up.home, processes=processes):
        eventually(shared_up.workers, lambda pids: len(pids) == running + processes)

        shared_up.psql(inserts(letters(limit + more, domain), rows=10, project=project))

        eventually(lambda: len(relay), lambda count: count >= limit)
        waiting = (
            "SELECT min(id::text) FROM mailqueue.email_queue"
            " WHERE status = 'pending' AND recipient_email LIKE %s HAVING count(*) = %s"
        )
        left = eventually(lambda: shared_up.rows(waiting, f"%@{domain}", more))[0][0]
        why = shared_up.home.json("why", left)["why"]
    assert len(relay) == limit
    assert len(set(relay.addresses())) == limit
    assert why.startswith("sender account relay waits until ")
    assert why.endswith(
        f"00:00:00 UTC: its daily limit of {limit} is used up;"
        f" to raise it: mailqueue sender limits relay --daily-limit N --project {project}"
    )

    shared_up.home.json("sender", "limits", "relay", "--project", project, "--daily-limit", "none")

    eventually(lambda: len(relay), lambda count: count == limit + more)


def test_a_paused_account_keeps_its_mail_until_it_is_resumed(shared_up: Up, relay: Sink) -> None:
    project_with_relay(shared_up, "paused", relay)
    own = ("relay", "--project", "paused")
    shared_up.home.json("sender", "pause", *own, "--reason", "moving house")
    shared_up.psql(inserts(letters(4, "paused.example"), project="paused"))
    shared_up.psql(inserts(letters(1, "by-the-way.example")))
    eventually(lambda: shared_up.count_caught("by-the-way.example"))  # workers have looked

    mail = "SELECT id::text FROM mailqueue.email_queue WHERE recipient_email = 'n0@paused.example'"
    why = shared_up.home.json("why", shared_up.value(mail))["why"]

    assert "it is paused" in why
    assert len(relay) == 0
    shared_up.home.json("sender", "resume", *own)
    eventually(lambda: len(relay), lambda count: count == 4)


def test_a_relay_that_is_down_costs_no_attempt_and_loses_nothing(shared_up: Up) -> None:
    with sink() as gone:
        project_with_relay(shared_up, "down", gone)
    shared_up.psql(inserts(letters(3, "down.example"), project="down"))
    state = (
        "SELECT DISTINCT l.blocked_reason FROM mailqueue.lanes AS l JOIN mailqueue.email_queue AS q"
        " ON q.lane_id = l.id WHERE q.recipient_email LIKE '%@down.example'"
    )
    eventually(lambda: shared_up.rows(state.replace("%", "%%")), [("unreachable",)].__eq__)
    tried = "SELECT sum(attempts) FROM mailqueue.email_queue WHERE recipient_email LIKE %s"
    eventually(lambda: shared_up.value(tried, "%@down.example"), lambda attempts: attempts == 0)

    with sink() as back:
        shared_up.rows(
            "UPDATE mailqueue.sender_accounts AS a SET smtp_port = %s FROM mailqueue.projects AS p"
            " WHERE p.id = a.project_id AND p.name = 'down' AND a.name = 'relay' RETURNING a.id",
            back.port,
        )
        eventually(lambda: len(back), lambda count: count == 3, seconds=90)
