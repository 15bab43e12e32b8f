"""Mail to the trap's simulator addresses meets the documented faults, through all components."""

import pytest

from tests.whole.running import Home, Up, eventually, up

pytestmark = pytest.mark.timeout(300)


def queued(up: Up, name: str, tag: str) -> str:
    """Insert one mail to a simulator address; return its id."""
    return up.psql(
        "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body)"
        f" VALUES ('{name}+{tag}@simulator.example', 'Simulated', 'Hello') RETURNING id"
    )


def finished(up: Up, email_id: str) -> str:
    query = "SELECT coalesce(max(status), '') FROM mailqueue.email_history WHERE id = %s"
    return eventually(lambda: str(up.value(query, email_id)))


def attempted(up: Up, email_id: str) -> tuple[str, str, str]:
    """Wait for the first attempt; return its status, reply code and enhanced code."""
    query = "SELECT status, error_code, enhanced_code FROM mailqueue.send_logs WHERE email_id = %s"
    status, code, enhanced = eventually(lambda: up.rows(query, email_id))[0]
    return str(status), str(code), str(enhanced)


def test_a_bounced_address_is_listed_and_the_next_mail_to_it_is_suppressed(shared_up: Up) -> None:
    first = queued(shared_up, "bounced", "a")
    assert finished(shared_up, first) == "failed"
    assert attempted(shared_up, first) == ("bounced", "550", "5.1.1")
    listed = "SELECT bounce_type FROM mailqueue.bounce_list WHERE email = %s"
    assert shared_up.value(listed, "bounced+a@simulator.example") == "hard"

    second = queued(shared_up, "bounced", "a")

    assert finished(shared_up, second) == "suppressed"
    assert "hard_bounce" in shared_up.home.json("why", second)["why"]
    logs = "SELECT count(*) FROM mailqueue.send_logs WHERE email_id = %s"
    assert shared_up.value(logs, second) == 0


def test_a_deferred_mail_is_tried_again_and_why_says_when(shared_up: Up) -> None:
    email_id = queued(shared_up, "deferred", "a")

    assert attempted(shared_up, email_id) == ("deferred", "451", "4.3.0")
    assert shared_up.home.json("why", email_id)["why"].startswith("tried once, next attempt at ")
    assert shared_up.hasten() > 0
    logs = "SELECT count(*) FROM mailqueue.send_logs WHERE email_id = %s"
    eventually(lambda: shared_up.value(logs, email_id), lambda count: count == 2)


def test_a_busy_server_delays_the_mail_and_costs_nothing_else(shared_up: Up) -> None:
    email_id = queued(shared_up, "busy", "a")

    assert attempted(shared_up, email_id)[:2] == ("deferred", "421")
    status = "SELECT status FROM mailqueue.emails WHERE id = %s"
    assert shared_up.value(status, email_id) == "pending"


def test_a_message_refused_for_policy_suppresses_no_address(shared_up: Up) -> None:
    email_id = queued(shared_up, "rejected", "a")

    assert attempted(shared_up, email_id)[1:] == ("554", "5.7.1")
    suppressed = "SELECT count(*) FROM mailqueue.suppressions WHERE address = %s"
    assert shared_up.value(suppressed, "rejected+a@simulator.example") == 0


def test_servers_that_are_slow_or_silent_delay_no_other_mail(home: Home) -> None:
    status = "SELECT status FROM mailqueue.emails WHERE id = %s"
    with up(home, "--workers", "1") as running:
        silent = queued(running, "silent", "a")
        eventually(lambda: running.count_caught("simulator.example"), lambda caught: caught == 1)
        slow = queued(running, "slow", "a")
        eventually(lambda: running.count_caught("simulator.example"), lambda caught: caught == 2)

        other = running.value(
            "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body)"
            " VALUES ('ann@quick.example', 'Quick', 'Hello') RETURNING id::text"
        )

        assert finished(running, other) == finished(running, slow) == "sent"
        order = "SELECT id::text FROM mailqueue.email_history ORDER BY finished_at"
        assert running.rows(order) == [(other,), (slow,)]
        assert running.value(status, silent) == "assigned"
        running.kill()  # a stop would wait for the silent one
