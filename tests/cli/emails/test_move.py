"""`mailqueue email move` and `mailqueue find`."""

from uuid import UUID

from mailqueue.db.fetch import Conn
from tests import make
from tests.cli.support.invoked import Cli

ROUTE = (
    "SELECT l.route FROM mailqueue.email_queue AS q JOIN mailqueue.lanes AS l ON l.id = q.lane_id"
)


async def one(conn: Conn) -> UUID:
    for name in ("relay", "backup"):
        await make.sender_account(conn, name=name)
    return await make.queued_email(conn, sender="relay", subject="Bill")


def test_an_email_is_moved_to_an_account_or_to_any(on_fresh_db: Cli) -> None:
    email = str(on_fresh_db.sql(one))
    unclear = on_fresh_db("email", "move", email)
    trial = on_fresh_db("email", "move", email, "--sender", "backup", "--dry-run")
    before = on_fresh_db.sql(lambda conn: make.scalar(conn, ROUTE))
    moved = on_fresh_db("email", "move", email, "--sender", "backup")
    after = on_fresh_db.sql(lambda conn: make.scalar(conn, ROUTE))
    unknown = on_fresh_db("email", "move", email, "--sender", "nobody")
    back = on_fresh_db("email", "move", email, "--any", "--json")

    assert unclear.exit_code == 2
    assert (trial.exit_code, before) == (0, "relay")
    assert moved.exit_code == 0, moved.output
    assert "moved" in moved.stdout
    assert after == "backup"
    assert unknown.exit_code == 1
    assert '"moved"' in back.stdout
    assert on_fresh_db.sql(lambda conn: make.scalar(conn, ROUTE)) == ""


def test_all_that_match_are_moved_at_once_or_by_workers(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(one)
    where = ("--project", "default", "--from", "relay", "--subject", "bill")
    both = on_fresh_db("email", "move", *where, "--sender", "backup", "--any")
    trial = on_fresh_db("email", "move", *where, "--sender", "backup", "--dry-run")
    unknown = on_fresh_db("email", "move", *where, "--sender", "nobody", "--dry-run")
    begun = on_fresh_db.json("email", "move", *where, "--sender", "backup", "--background", "--yes")
    shown = on_fresh_db("operation", "show", begun["id"])
    moved = on_fresh_db("email", "move", *where, "--sender", "backup", "--yes")
    after = on_fresh_db.sql(lambda conn: make.scalar(conn, ROUTE))

    assert both.exit_code == 2
    assert trial.stdout == "1 would be moved\n"
    assert unknown.exit_code == 1
    assert (begun["verb"], begun["to"], begun["filter"]) == (
        "move",
        "backup",
        {"sender": "relay", "subject": "bill"},
    )
    assert "backup" in shown.stdout
    assert moved.stdout == "1 moved\n"
    assert after == "backup"


def test_find_prints_what_a_text_names(on_fresh_db: Cli) -> None:
    email = str(on_fresh_db.sql(one))

    found = on_fresh_db("find", "ann@example.com")
    nothing = on_fresh_db("find", "nobody@example.com")

    assert "recipient" in found.stdout
    assert "Bill" in on_fresh_db("find", email).stdout
    assert nothing.stdout == "nothing found\n"
