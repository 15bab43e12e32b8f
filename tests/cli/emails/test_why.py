"""`mailqueue why` and `mailqueue email`: one mail at a time."""

from uuid import UUID, uuid4

from mailqueue.db.fetch import Conn
from tests import make
from tests.cli.support.invoked import Cli


async def settled(conn: Conn, outcome: str, *, log: str, code: str, reply: str) -> UUID:
    """Return one mail whose attempt had this outcome."""
    await make.sender_account(conn, name="relay")
    email_id = await make.queued_email(conn, subject="Bill", recipient_name="Ann")
    [(_, claim_no)] = await make.claimed(conn, await make.worker(conn))
    await conn.execute(
        "SELECT mailqueue.settle_emails(%s, %s, %s, %s, %s, '{1}', '{1}', %s, %s, '{NULL}', %s,"
        " '{NULL}', %s, '{7}', '{f}')",
        (
            [email_id],
            [claim_no],
            [outcome],
            [reply],
            ["5 min"],
            [log],
            ["<1@example.com>"],
            [code],
            [reply],
        ),
    )
    return email_id


def test_a_mail_without_a_usable_account_names_what_to_add(on_fresh_db: Cli) -> None:
    email_id = on_fresh_db.sql(make.queued_email)

    result = on_fresh_db("why", str(email_id))

    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(
        "the project has no sender account; to add one: mailqueue sender add "
    )
    assert "ann@example.com" in result.stdout


def test_a_deferred_mail_tells_its_next_attempt_and_what_the_server_said(on_fresh_db: Cli) -> None:
    email_id = on_fresh_db.sql(
        lambda conn: settled(conn, "retry", log="deferred", code="451", reply="451 try later")
    )

    document = on_fresh_db.json("why", str(email_id))

    assert document["why"].startswith("tried once, next attempt at ")
    assert ": 451 try later; to see its attempts: mailqueue email show" in document["why"]
    assert document["status"] == "pending"
    [attempt] = document["attempts"]
    assert (attempt["attempt"], attempt["code"], attempt["reply"], attempt["sender"]) == (
        1,
        "451",
        "451 try later",
        "relay",
    )


def test_a_sent_mail_tells_when_and_by_whom(on_fresh_db: Cli) -> None:
    email_id = on_fresh_db.sql(
        lambda conn: settled(conn, "sent", log="sent", code="250", reply="250 ok")
    )

    shown = on_fresh_db("why", str(email_id)).stdout

    assert shown.startswith("sent at ")
    for words in ("relay", "250 ok", "Ann <ann@example.com>", "Bill", "<1@example.com>"):
        assert words in shown


def test_a_failed_mail_says_the_reply_once(on_fresh_db: Cli) -> None:
    async def bounced(conn: Conn) -> UUID:
        await make.sender_account(conn, name="relay")
        email_id = await make.queued_email(conn)
        [(_, claim_no)] = await make.claimed(conn, await make.worker(conn))
        await conn.execute(
            "SELECT mailqueue.settle_emails(%s, %s, '{failed}', '{no such user}', '{NULL}', '{1}',"
            " '{1}', '{bounced}', '{NULL}', '{NULL}', '{550}', '{5.1.1}', '{no such user}', '{7}',"
            " '{t}')",
            ([email_id], [claim_no]),
        )
        return email_id

    email_id = on_fresh_db.sql(bounced)

    why = on_fresh_db.json("why", str(email_id))["why"]

    assert why.count("no such user") == 1
    assert why.count(str(email_id)) == 1  # in the command that queues it again
    assert "; bounced for good at " in why
    assert "(ann@example.com has been suppressed since " in why


def test_each_recipient_of_a_message_has_a_line(on_fresh_db: Cli) -> None:
    email_id = on_fresh_db.sql(
        lambda conn: make.queued_email(conn, cc=["Bob <bob@example.com>"], bcc=["c@example.com"])
    )

    document = on_fresh_db.json("email", "show", str(email_id))

    assert [(each["kind"], each["address"]) for each in document["recipients"]] == [
        ("to", "ann@example.com"),
        ("cc", "bob@example.com"),
        ("bcc", "c@example.com"),
    ]
    assert "bob@example.com" in on_fresh_db("email", "show", str(email_id)).stdout


def test_an_unknown_mail_is_one_line_and_1(on_fresh_db: Cli) -> None:
    unknown = str(uuid4())

    result = on_fresh_db("why", unknown)

    assert (result.exit_code, result.stderr) == (1, f"error: no email {unknown}\n")


def test_a_mail_that_may_be_archived_names_the_command_that_reads_it(on_fresh_db: Cli) -> None:
    email = str(uuid4())

    async def archived(conn: Conn) -> None:
        await conn.execute(
            "INSERT INTO mailqueue.archives (project_id, kind, month, part, state, store, path,"
            " records, bytes, sha256, archived_at) VALUES (mailqueue.uuidv7(), 'email_history',"
            " '2024-08-01', 1, 'archived', 'file:///archive', 'x', 1, 1, 'x', now())"
        )

    on_fresh_db.sql(archived)

    for command in (("why",), ("email", "show")):
        result = on_fresh_db(*command, email)

        assert result.exit_code == 1
        assert result.stderr == (
            f"error: no email {email}: old ones are in the archive; to read it:"
            f" mailqueue archive read --kind email_history --having {email}\n"
        )


def test_an_id_that_is_none_is_wrong_usage(on_fresh_db: Cli) -> None:
    assert on_fresh_db("why", "42").exit_code == 2


def test_text_of_others_cannot_move_the_cursor(on_fresh_db: Cli) -> None:
    email_id = on_fresh_db.sql(
        lambda conn: settled(conn, "retry", log="deferred", code="451", reply="\x1b[2J\r\nevil")
    )

    shown = on_fresh_db("why", str(email_id)).stdout

    assert "\x1b" not in shown
    assert "\r" not in shown


def test_mail_is_held_released_cancelled_and_requeued(on_fresh_db: Cli) -> None:
    email_id = str(on_fresh_db.sql(make.queued_email))

    for verb, result, status in (
        ("hold", "held", "held"),
        ("release", "released", "pending"),
        ("cancel", "cancelled", "cancelled"),
        ("requeue", "requeued", "pending"),
    ):
        assert on_fresh_db.json("email", verb, email_id) == [{"id": email_id, "result": result}]
        assert on_fresh_db.json("email", "show", email_id)["status"] == status
    assert on_fresh_db("verify").exit_code == 0


def test_mails_of_several_projects_are_handled_in_one_go(on_fresh_db: Cli) -> None:
    async def two(conn: Conn) -> list[str]:
        await make.project(conn, "shop")
        return [
            str(await make.queued_email(conn)),
            str(await make.queued_email(conn, project="shop")),
        ]

    ids = on_fresh_db.sql(two)

    result = on_fresh_db("email", "cancel", *ids, "--reason", "recalled")

    assert result.exit_code == 0, result.output
    assert result.stdout.endswith("2 cancelled\n")
    assert on_fresh_db.json("why", ids[1])["reason"] == "recalled"


def test_what_is_left_as_it_was_is_told_and_ends_with_1(on_fresh_db: Cli) -> None:
    email_id = str(on_fresh_db.sql(make.queued_email))
    unknown = str(uuid4())

    document = on_fresh_db.json("email", "release", email_id, unknown, exit_code=1)

    assert document == [
        {"id": email_id, "result": "unchanged: pending"},
        {"id": unknown, "result": "unknown"},
    ]
