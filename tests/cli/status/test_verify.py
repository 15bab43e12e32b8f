"""`mailqueue verify`: a lost row is detected, in whichever table."""

import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.audit.sealed import add, by_owner
from tests.cli.support.invoked import Cli


async def mails_in_every_state(conn: Conn) -> None:
    """Five accepted mails: sent, cancelled, suppressed at accept, held, pending."""
    await make.sender_account(conn)
    first = await make.queued_email(conn)
    [(_, claim_no)] = await make.claimed(conn, await make.worker(conn))
    await conn.execute(
        "SELECT mailqueue.settle_emails(%s, %s, '{sent}', '{NULL}', '{NULL}', '{1}', '{0}',"
        " '{sent}', '{m}', '{NULL}', '{250}', '{NULL}', '{ok}', '{1}', '{f}')",
        ([first], [claim_no]),
    )
    project_id = await make.project_named(conn)
    second, third, _ = await make.queued_emails(conn, 3)
    await conn.execute("SELECT mailqueue.cancel_emails(%s, %s)", (project_id, [second]))
    await conn.execute("SELECT mailqueue.hold_emails(%s, %s, 'look')", (project_id, [third]))
    await conn.execute(
        "INSERT INTO mailqueue.bounce_list (email, bounce_type) VALUES ('gone@example.com', 'hard')"
    )
    await make.queued_email(conn, recipient_email="gone@example.com")


def test_every_accepted_mail_is_accounted_for(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(mails_in_every_state)

    document = on_fresh_db.json("verify")

    [line] = document["books"]
    assert document["adds_up"] is True
    assert (line["project"], line["accepted"], line["difference"]) == ("default", 5, 0)
    assert [line[word] for word in ("sent", "cancelled", "suppressed", "held", "queued")] == [1] * 5
    assert "all 5 accepted emails are accounted for" in on_fresh_db("verify").stdout


@pytest.mark.parametrize("gathered", [True, False])
@pytest.mark.parametrize("table", ["email_queue", "email_history"])
def test_a_row_that_is_deleted_makes_it_fail(
    on_fresh_db: Cli, table: str, *, gathered: bool
) -> None:
    """Also immediately after accepting, before a worker has added up the count."""

    async def one_lost(conn: Conn) -> None:
        await mails_in_every_state(conn)
        if gathered:
            await conn.execute("SELECT mailqueue.gather_lanes()")
        lost = f"SELECT id FROM mailqueue.{table} ORDER BY id DESC LIMIT 1"
        await make.by_hand(conn)
        await conn.execute(f"DELETE FROM mailqueue.{table} WHERE id = ({lost})".encode())

    on_fresh_db.sql(one_lost)

    result = on_fresh_db("verify")
    document = on_fresh_db.json("verify", exit_code=1)

    assert result.exit_code == 1
    assert "error: 1 email of project default accepted on " in result.stderr
    assert "are neither queued nor finished" in result.stderr
    assert (document["adds_up"], document["books"][0]["difference"]) == (False, 1)


def test_a_row_that_was_never_accepted_makes_it_fail(on_fresh_db: Cli) -> None:
    async def one_doubled(conn: Conn) -> None:
        await mails_in_every_state(conn)
        await conn.execute(
            "INSERT INTO mailqueue.email_history SELECT (h).* FROM (SELECT jsonb_populate_record("
            "NULL::mailqueue.email_history, to_jsonb(e) || jsonb_build_object('id',"
            " gen_random_uuid())) AS h FROM mailqueue.email_history AS e LIMIT 1) AS x"
        )

    on_fresh_db.sql(one_doubled)

    result = on_fresh_db("verify")

    assert result.exit_code == 1
    assert "never accepted" in result.stderr


def test_an_installation_without_mail_adds_up(on_fresh_db: Cli) -> None:
    assert on_fresh_db("verify").stdout == (
        "all 0 accepted emails are accounted for\naudit log: not verified, no master key is set\n"
    )


def test_a_changed_audit_row_makes_it_fail(on_fresh_db: Cli) -> None:
    on_fresh_db.environment["MAILQUEUE_MASTER_KEY"] = "a1" * 32
    on_fresh_db.sql(lambda conn: add(conn, "one", "two"))
    made = on_fresh_db("maintain", "audit")
    assert made.exit_code == 0, made.output
    before = on_fresh_db("verify")
    head = on_fresh_db.json("verify")["audit"]["head"]

    async def changed(conn: Conn) -> None:
        async with conn.transaction():
            await by_owner(conn, "UPDATE mailqueue.audit_events SET actor = 'x' WHERE id = 2")

    on_fresh_db.sql(changed)

    result = on_fresh_db("verify", "--audit-head", head)
    document = on_fresh_db.json("verify", exit_code=1)
    assert before.exit_code == 0
    assert f"audit log: 2 rows sealed\naudit log head: {head}\n" in before.stdout
    assert result.exit_code == 1
    assert "error: audit log: row 2 (" in result.stderr
    [fault] = document["faults"]
    assert (document["adds_up"], document["audit"]["faults"]) == (
        True,
        [fault.removeprefix("audit log: ")],
    )
    assert on_fresh_db("verify", "--audit-head", "x").exit_code != 0
