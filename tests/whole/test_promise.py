"""The promise: rows that another program inserts arrive once each, unchanged, and are accounted
for.
"""

import pytest

from tests.whole.difficult_mails import inserts, letters, read
from tests.whole.running import Up, eventually

pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.soak)])
def test_mails_inserted_by_psql_while_it_runs_arrive_once_each_and_unharmed(
    shared_up: Up, count: int
) -> None:
    domain = f"promise{count}.example"
    mails = letters(count, domain)

    shared_up.psql(inserts(mails))

    eventually(lambda: shared_up.count_caught(domain), lambda caught: caught >= count, seconds=120)
    eventually(lambda: _sent(shared_up, domain), lambda sent: sent == count)
    messages = shared_up.caught(domain)
    arrived = {letter.to: letter for letter in map(read, messages)}
    assert len(messages) == count
    for mail in mails:  # one at a time: a difference shows the one mail it is about
        assert arrived[mail.to] == mail.arrived()
    assert shared_up.home.json("verify")["adds_up"]


def test_verify_notices_a_single_row_that_is_gone(shared_up: Up) -> None:
    domain = "books.example"
    shared_up.psql(inserts(letters(3, domain)))
    eventually(lambda: _sent(shared_up, domain), lambda sent: sent == 3)
    shared_up.rows("SELECT mailqueue.gather_lanes()")  # the count stands before the row goes

    shared_up.psql(
        "CREATE TABLE taken_out AS SELECT * FROM mailqueue.email_history"
        f" WHERE recipient_email = 'n1@{domain}';"
        f"DELETE FROM mailqueue.email_history WHERE recipient_email = 'n1@{domain}';"
    )
    missing = shared_up.home.run("verify")
    shared_up.psql(
        "INSERT INTO mailqueue.email_history SELECT * FROM taken_out; DROP TABLE taken_out"
    )

    assert missing.returncode == 1
    assert "error: " in missing.stderr
    assert shared_up.home.run("verify").returncode == 0


def _sent(up: Up, domain: str) -> int:
    query = (
        "SELECT count(*) FROM mailqueue.email_history"
        " WHERE status = 'sent' AND recipient_email LIKE %s"
    )
    found: int = up.value(query, f"%@{domain}")
    return found
