"""`mailqueue maintain` and `mailqueue archive`: output and exit codes."""

from pathlib import Path

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.maintenance.model import Task
from tests.cli.support.invoked import Cli
from tests.maintenance import stored_mail
from tests.maintenance.old_mail import old
from tests.rows import each_row


@pytest.fixture
def folder_for_files(on_fresh_db: Cli, tmp_path: Path) -> Path:
    folder = tmp_path / "archive"
    on_fresh_db.environment["MAILQUEUE_ARCHIVE"] = str(folder)
    return folder


async def some_old_mail(conn: Conn) -> None:
    await old(conn, 5)


def test_it_lists_what_there_is_to_do(on_fresh_db: Cli) -> None:
    document = on_fresh_db.json("maintain", "--list")

    assert [row["task"] for row in document["tasks"]] == list(Task)
    assert "partitions" in on_fresh_db("maintain", "--list").stdout


def test_a_line_is_printed_for_each_task_and_none_needs_attention(on_fresh_db: Cli) -> None:
    result = on_fresh_db("maintain", "keys", "partitions")

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "partitions: 0 created, 0 dropped",
        "keys: 0 keys expired",
    ]


def test_what_needs_a_person_is_said_and_makes_the_exit_code_1(on_fresh_db: Cli) -> None:
    on_fresh_db.sql(some_old_mail)

    result = on_fresh_db("maintain", "archive")
    document = on_fresh_db.json("maintain", "archive", exit_code=1)

    assert result.exit_code == 1
    assert "needs you: 3 months of records are old enough" in result.stderr
    assert document["needs_person"] is True
    assert "MAILQUEUE_ARCHIVE" in document["tasks"][0]["needs"][0]


def test_the_way_of_old_mail_at_the_command_line(on_fresh_db: Cli, folder_for_files: Path) -> None:
    on_fresh_db.sql(some_old_mail)

    assert on_fresh_db.json("maintain", "archive")["tasks"][0]["counts"]["files"] == 3
    assert on_fresh_db.json("verify")["adds_up"] is True

    listed = on_fresh_db.json("archive", "list", "--kind", "email_history")["archives"]
    assert [(each["project"], each["records"], each["state"]) for each in listed] == [
        ("default", 5, "archived")
    ]
    month = listed[0]["month"][:7]
    assert f"email_history   {month}" in on_fresh_db("archive", "list").stdout
    assert on_fresh_db("archive", "verify").stdout.startswith("3 files are intact")
    having = on_fresh_db("archive", "read", str(listed[0]["id"]), "--having", "person1@")
    assert having.stdout.count("\n") == 1
    back = on_fresh_db("archive", "restore", "--month", month, "--for", "1d").stdout
    assert back.endswith("records of 3 files restored\n")
    assert on_fresh_db.json("verify")["adds_up"] is True
    assert on_fresh_db.sql(stored_mail.in_tables)["email_history"] == 5


def test_a_damaged_file_makes_verifying_fail(on_fresh_db: Cli, folder_for_files: Path) -> None:
    on_fresh_db.sql(some_old_mail)
    on_fresh_db("maintain", "archive")
    path = stored_mail.files(folder_for_files)[0]
    stored_mail.damage(path, "cut", other=path)

    result = on_fresh_db("archive", "verify")

    assert result.exit_code == 1
    assert "is damaged" in result.stderr
    assert on_fresh_db.json("archive", "verify", exit_code=1)["whole"] is False


def test_days_are_changed_for_one_project_or_for_all_and_taken_back(on_fresh_db: Cli) -> None:
    def days(kind: str) -> list[tuple[str, int, int | None]]:
        found = on_fresh_db.json("archive", "days", "--project", "default")["data"]
        return [
            (each["project"], each["hot_days"], each["keep_days"])
            for each in found
            if each["kind"] == kind
        ]

    on_fresh_db("archive", "keep", "send_logs", "--hot", "60", "--until", "ever")
    on_fresh_db(
        *("archive", "keep", "send_logs", "--project", "default", "--hot", "7", "--until", "7")
    )
    assert days("send_logs") == [("all", 60, None), ("default", 7, 7)]

    done = on_fresh_db("archive", "keep", "send_logs", "--project", "default", "--as-all")

    assert (done.stdout, days("send_logs")) == ("as for all\n", [("all", 60, None)])


@each_row(
    "words, said",
    [
        (("send_logs", "--hot", "90", "--until", "30"), "error: days: "),
        (("colours", "--hot", "90", "--until", "90"), "error: days: "),
        (
            ("send_logs", "--hot", "9", "--until", "soon"),
            "error: --until: must be a number of days",
        ),
        (("send_logs", "--project", "x", "--hot", "9", "--until", "9"), "there is no project"),
    ],
)
def test_days_that_cannot_be_are_refused(
    on_fresh_db: Cli, words: tuple[str, ...], said: str
) -> None:
    result = on_fresh_db("archive", "keep", *words)

    assert result.exit_code == 1
    assert said in result.stderr


def test_restoring_without_saying_what_is_refused(on_fresh_db: Cli) -> None:
    result = on_fresh_db("archive", "restore")

    assert result.exit_code == 2
    assert "select files by ID" in result.stderr
