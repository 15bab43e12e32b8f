"""`mailqueue email VERB` for all matching mail, and for single mails."""

from typing import Any
from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending
from tests import make
from tests.cli.support.invoked import Cli
from tests.operations.steps import audit, finished
from tests.rows import each_row


async def three(conn: Conn) -> list[UUID]:
    """Two mails of a campaign and one without a campaign."""
    await make.sender_account(conn)
    return [
        await make.queued_email(conn, campaign_id="spring"),
        await make.queued_email(conn, campaign_id="spring"),
        await make.queued_email(conn),
    ]


def statuses(cli: Cli) -> list[str]:
    found = cli.sql(
        lambda conn: make.rows(conn, "SELECT status FROM mailqueue.emails ORDER BY campaign_id")
    )
    return [row[0] for row in found]


SPRING = ("--project", "default", "--campaign", "spring")


def test_a_dry_run_says_how_many_and_changes_nothing(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(three)

    result = on_fresh_db("email", "cancel", *SPRING, "--dry-run")

    assert result.exit_code == 0, result.output
    assert result.stdout == "2 would be cancelled\n"
    assert statuses(on_fresh_db) == ["pending"] * 3
    assert on_fresh_db.sql(audit) == []


def test_without_yes_it_shows_the_count_and_asks(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(three)

    refused = on_fresh_db("email", "cancel", *SPRING, answer="n\n")
    unanswered = on_fresh_db("email", "cancel", *SPRING)
    assert refused.exit_code == unanswered.exit_code == 1
    assert "2 emails will be cancelled. Continue?" in refused.output
    assert statuses(on_fresh_db) == ["pending"] * 3

    agreed = on_fresh_db("email", "cancel", *SPRING, answer="y\n")
    assert agreed.exit_code == 0, agreed.output
    assert agreed.stdout.endswith("2 cancelled\n")
    assert statuses(on_fresh_db) == ["cancelled", "cancelled", "pending"]


@pytest.mark.parametrize(
    ("verb", "options", "becomes"),
    [
        ("hold", (), "held"),
        ("cancel", ("--reason", "recalled"), "cancelled"),
        ("reprioritise", ("--priority", "low"), "pending"),
    ],
)
def test_a_verb_is_done_to_all_that_match_and_written_down_once(
    on_fresh_db: Cli, verb: str, options: tuple[str, ...], becomes: str
) -> None:
    on_fresh_db.sql(three)

    document = on_fresh_db.json("email", verb, *SPRING, "--yes", *options)

    assert (document["matched"], document["emails"]) == (2, 2)
    assert statuses(on_fresh_db) == [becomes, becomes, "pending"]
    [(_, subject, detail)] = on_fresh_db.sql(audit)
    assert (subject, detail["emails"]) == ("project default", 2)
    assert detail["filter"] == {"project": "default", "campaign_id": "spring"}
    actor = on_fresh_db.sql(
        lambda conn: make.scalar(conn, "SELECT actor FROM mailqueue.audit_events")
    )
    assert "@" in actor, "the database's login is everybody's: the person is named too"
    assert on_fresh_db("verify").exit_code == 0


def test_more_than_one_batch_is_one_operation(on_fresh_db: Cli) -> None:
    async def many(conn: Conn) -> None:
        await conn.execute(
            "SELECT mailqueue.enqueue_batch('default', (SELECT jsonb_agg(jsonb_build_object("
            "'recipient', 'p' || n || '@example.com', 'subject', 's', 'text', 't'))"
            " FROM generate_series(1, 2500) AS n))"
        )

    on_fresh_db.sql(many)

    document = on_fresh_db.json("email", "hold", "--project", "default", "--yes")

    assert document["emails"] == 2500
    [(_, _, detail)] = on_fresh_db.sql(audit)
    assert detail["emails"] == 2500


def test_held_mail_is_released_and_failed_mail_queued_again(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(three)
    on_fresh_db("email", "hold", *SPRING, "--yes")
    assert on_fresh_db("email", "release", *SPRING, "--yes").stdout == "2 released\n"
    on_fresh_db("email", "cancel", *SPRING, "--yes")

    requeued = on_fresh_db("email", "requeue", *SPRING, "--status", "cancelled", "--yes")

    assert requeued.stdout == "2 requeued\n"
    assert statuses(on_fresh_db) == ["pending"] * 3


def test_sent_mail_is_resent_once_under_new_ids(on_fresh_db: Cli) -> None:
    async def one_sent(conn: Conn) -> UUID:
        await make.sender_account(conn)
        return await finished(conn, Ending.SENT, campaign_id="spring")

    old = str(on_fresh_db.sql(one_sent))

    assert on_fresh_db("email", "resend", *SPRING, "--yes").stdout == "1 resent\n"
    [handled] = on_fresh_db.json("email", "resend", old)

    assert handled["result"].startswith("resent as ")
    assert sorted(statuses(on_fresh_db)) == ["pending", "pending", "sent"]


def test_single_mails_are_moved_and_written_down(on_fresh_db: Cli) -> None:
    first, _, third = (str(each) for each in on_fresh_db.sql(three))

    moved = on_fresh_db("email", "reprioritise", first, third, "--priority", "critical")

    assert moved.stdout.endswith("2 moved\n")
    [(action, _, detail)] = on_fresh_db.sql(audit)
    assert (action, detail["emails"], detail["priority"]) == (
        "emails.reprioritised", 2, "critical"
    )  # fmt: skip
    assert sorted(detail["filter"]["ids"]) == sorted([first, third])


def test_a_dry_run_on_single_mails_takes_it_back(on_fresh_db: Cli) -> None:
    first, *_ = (str(each) for each in on_fresh_db.sql(three))

    document = on_fresh_db.json("email", "cancel", first, "--dry-run")

    assert document == [{"id": first, "result": "cancelled"}]
    assert statuses(on_fresh_db) == ["pending"] * 3
    assert on_fresh_db.sql(audit) == []


def test_nothing_that_matches_is_nothing_to_ask_about(on_fresh_db: Cli) -> None:
    document = on_fresh_db.json("email", "cancel", *SPRING)

    assert document == {"matched": 0, "emails": 0, "operation": None, "dry_run": False}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "give ids, or --project"),
        (("--campaign", "spring"), "give ids, or --project"),
        (("019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11", *SPRING), "not both"),
    ],
)
def test_all_mail_of_all_projects_is_never_selected_by_accident(
    on_fresh_db: Cli, words: tuple[str, ...], says: str
) -> None:
    on_fresh_db.sql(three)

    result = on_fresh_db("email", "cancel", *words, "--yes")

    assert result.exit_code == 2
    assert says in result.stderr
    assert statuses(on_fresh_db) == ["pending"] * 3


@each_row(
    "options, says",
    [
        (("--project", "nowhere"), "error: project: there is no project"),
        (("--project", "default", "--lane", "urgent"), "error: lane: critical, high"),
        (("--project", "default", "--older-than", "long"), "error: older_than: an age"),
        (("--project", "default", "--status", "sent"), "error: status: cancel takes mail"),
    ],
)
def test_a_filter_that_cannot_be_meant_is_an_error(
    on_fresh_db: Cli, options: tuple[str, ...], says: str
) -> None:
    result = on_fresh_db("email", "cancel", *options, "--dry-run")

    assert result.exit_code == 1
    assert says in result.stderr


def in_doubt(cli: Cli) -> str:
    async def made(conn: Conn) -> UUID:
        await make.sender_account(conn)
        return await finished(conn, Ending.UNKNOWN, delivery="hold")

    return str(cli.sql(made))


@pytest.mark.parametrize("option", ["--reason", "--note"])
def test_mail_in_doubt_is_resolved_by_a_person(on_fresh_db: Cli, option: str) -> None:
    email = in_doubt(on_fresh_db)

    document = on_fresh_db.json("resolve", email, "--sent", option, "she has it")

    assert document == [{"id": email, "result": "sent"}]
    [(action, _, detail)] = on_fresh_db.sql(audit)
    assert (action, detail["was_sent"], detail["note"]) == ("emails.resolved", True, "she has it")
    assert "she has it" in on_fresh_db("why", email).stdout


def test_resolving_needs_to_be_told_how(on_fresh_db: Cli) -> None:
    email = in_doubt(on_fresh_db)

    assert on_fresh_db("resolve", email).exit_code == 2
    assert on_fresh_db("resolve", email, "--not-sent").stdout.endswith("1 queued\n")
    assert on_fresh_db("resolve", email, "--sent").exit_code == 1, "it is in doubt no more"


def restored(cli: Cli, *more: str) -> Any:
    return cli("restored", "--from", "2026-01-01T00:00Z", *more)


def test_after_a_restore_due_mail_is_held_before_any_worker_starts(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(three)

    assert restored(on_fresh_db, "--dry-run").stdout == "3 would be held\n"
    assert statuses(on_fresh_db) == ["pending"] * 3
    assert restored(on_fresh_db).stdout == "3 held\n"

    assert statuses(on_fresh_db) == ["held"] * 3
    on_fresh_db.sql(make.worker)
    refused = restored(on_fresh_db)
    assert refused.exit_code == 1
    assert "stop them first" in refused.stderr


def test_an_invalid_time_is_an_error(on_fresh_db: Cli) -> None:
    result = on_fresh_db("restored", "--from", "yesterday")

    assert result.exit_code == 1
    assert "from: must be a point in time such as" in result.stderr


def test_a_filter_names_a_batch(on_fresh_db: Cli) -> None:
    async def some(conn: Conn) -> UUID:
        ids = await three(conn)
        keep = "SELECT mailqueue.keep_batch(%s, %s, 'x', 'x')"
        await conn.execute(keep, [await make.project_named(conn, "default"), ids[:2]])
        return ids[0]

    batch = str(on_fresh_db.sql(some))
    of_batch = ("--project", "default", "--batch", batch, "--yes")

    for verb, done in (("hold", "held"), ("release", "released"), ("cancel", "cancelled")):
        result = on_fresh_db("email", verb, *of_batch)
        assert result.exit_code == 0, result.output
        assert result.stdout.endswith(f"2 {done}\n")
    assert statuses(on_fresh_db) == ["cancelled", "cancelled", "pending"]
    assert on_fresh_db.json("email", "requeue", *of_batch)["emails"] == 2
    unknown = on_fresh_db("email", "hold", "--project", "default", "--batch", "x", "--yes")
    assert 'batch: this project has no batch "x"' in unknown.stderr


def test_mail_is_rescheduled_before_its_first_attempt(on_fresh_db: Cli) -> None:
    ids = [str(one) for one in on_fresh_db.sql(three)]
    attempted = "UPDATE mailqueue.email_queue SET attempts = 1 WHERE id = %s"
    on_fresh_db.sql(lambda conn: conn.execute(attempted, [ids[1]]))
    command = ("email", "reschedule", *ids[:2], "--run-at", "2030-05-01T08:00:00+02:00")
    times = "SELECT run_at::date::text FROM mailqueue.email_queue WHERE id = %s"

    def day(email: str) -> str:
        found: str = on_fresh_db.sql(lambda conn: make.scalar(conn, times, email))
        return found

    before = day(ids[0])
    on_fresh_db(*command, "--dry-run")
    assert day(ids[0]) == before
    result = on_fresh_db(*command)

    assert result.exit_code == 1
    assert "rescheduled" in result.stdout
    assert "unchanged: pending" in result.stdout
    assert (day(ids[0]), day(ids[1])) == ("2030-05-01", before)
    for text in ("20300501", "0", "tomorrow", "2030-05-01T08:00:00"):
        refused = on_fresh_db("email", "reschedule", ids[0], "--run-at", text)
        assert refused.exit_code == 1
        assert f"run_at: a timestamp is needed, got '{text}'" in refused.stderr
