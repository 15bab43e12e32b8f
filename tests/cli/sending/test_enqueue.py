"""`mailqueue enqueue`: one mail for each line, once, also after interruptions."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mailqueue.mail.accept import log_lines
from tests import make
from tests.cli.sending.mailing import PEOPLE, Folder
from tests.logged import log_of


def test_each_line_becomes_its_mail(folder: Folder) -> None:
    result = folder.enqueue(PEOPLE)

    assert result.exit_code == 0, result.output
    assert result.stdout == "2 queued, 0 already queued, 0 suppressed, 0 bad lines\n"
    assert folder.mails() == [
        ("ann@example.com", "Ann", "Hello Ann", "<p>Dear Ann, you live in Rome.\n", None),
        (
            "bob@example.com",
            "Bob & Co",
            "Hello Bob & Co",
            "<p>Dear Bob &amp; Co, you live in Köln.\n",
            None,
        ),
    ]


def test_values_are_escaped_in_html_only(folder: Folder, tmp_path: Path) -> None:
    text = tmp_path / "t.txt"
    text.write_text("Dear {{ name }}")
    people = 'email,name,city\na@example.com,"<b>""O\'Neil"" & Söhne</b>",x\n'

    folder.enqueue(people, "--template-file", str(folder.html), "--text-template-file", str(text))

    [(_, name, subject, html, body)] = folder.mails()
    assert name == '<b>"O\'Neil" & Söhne</b>'
    assert subject == f"Hello {name}"
    assert body == f"Dear {name}"
    assert "&lt;b&gt;&#34;O&#39;Neil&#34; &amp; Söhne" in html


def test_the_same_again_queues_nothing_and_says_so(folder: Folder) -> None:
    folder.enqueue(PEOPLE)

    again = folder.document(PEOPLE)

    assert (again["queued"], again["there_already"], again["bad"]) == (0, 2, [])
    assert folder.count() == 2


def test_another_file_template_or_subject_is_another_mailing(folder: Folder) -> None:
    folder.enqueue(PEOPLE)
    folder.enqueue(PEOPLE, "--subject", "Again")
    folder.html.write_text("<p>{{ name }} {{ city }}")
    folder.enqueue(PEOPLE)
    folder.enqueue(PEOPLE + "cy@example.com,Cy,Bonn\n")

    assert folder.count() == 2 + 2 + 2 + 3


def test_a_prefix_makes_changed_files_one_mailing(folder: Folder) -> None:
    folder.enqueue(PEOPLE, "--idempotency-prefix", "spring")

    more = folder.document(PEOPLE + "cy@example.com,Cy,Bonn\n", "--idempotency-prefix", "spring")

    assert (more["queued"], more["there_already"]) == (1, 2)


def test_a_reused_key_with_other_content_is_a_bad_line(folder: Folder) -> None:
    folder.enqueue(PEOPLE, "--idempotency-prefix", "spring")

    changed = folder.document(
        PEOPLE.replace("Rome", "Oslo"), "--idempotency-prefix", "spring", exit_code=1
    )

    assert [each["line"] for each in changed["bad"]] == [2]
    assert "was used for another email" in changed["bad"][0]["reason"]


def test_a_quoted_newline_belongs_to_its_value(folder: Folder) -> None:
    folder.enqueue('email,name,city\r\na@example.com,Ann,"Rome\r\nItaly"\r\nb@example.com,B,x\r\n')

    assert folder.mails()[0][3] == "<p>Dear Ann, you live in Rome\r\nItaly.\n"
    assert folder.mails()[1][0] == "b@example.com"


def test_a_byte_order_mark_and_other_columns_first_are_fine(folder: Folder) -> None:
    folder.enqueue(b"\xef\xbb\xbf" + b" city , recipient_email ,name\nRome,a@example.com,\n")

    assert folder.mails() == [
        ("a@example.com", None, "Hello ", "<p>Dear , you live in Rome.\n", None)
    ]


def test_lines_from_standard_input_are_taken_too(folder: Folder) -> None:
    result = folder.cli(*folder.words(PEOPLE, file="-"), stdin=PEOPLE)

    assert result.exit_code == 0, result.output
    assert folder.count() == 2


def test_options_hold_for_every_line_and_suppressed_ones_are_counted(folder: Folder) -> None:
    listed = (
        "INSERT INTO mailqueue.unsubscribe_list (email, category)"
        " VALUES ('bob@example.com', 'marketing')"
    )
    folder.cli.sql(lambda conn: conn.execute(listed.encode()))

    document = folder.document(
        PEOPLE, "--category", "marketing", "--campaign-id", "spring", "--priority", "low"
    )

    assert (document["queued"], document["suppressed"]) == (1, 1)
    found = folder.cli.sql(
        lambda conn: make.rows(
            conn,
            "SELECT status, category, campaign_id, priority FROM mailqueue.emails ORDER BY id",
        )
    )
    assert found == [
        ("pending", "marketing", "spring", 3),
        ("suppressed", "marketing", "spring", 3),
    ]


def test_a_trial_run_checks_everything_and_queues_nothing(folder: Folder) -> None:
    result = folder.enqueue(PEOPLE + "nobody,x,y\n", "--dry-run")

    assert result.exit_code == 1
    assert result.stdout == "2 would be queued, 0 already queued, 0 suppressed, 1 bad line\n"
    assert "line 4: recipient_email" in result.stderr
    assert folder.count() == 0
    assert folder.enqueue(PEOPLE).stdout.startswith("2 queued")


@pytest.mark.deep
def test_killed_in_the_middle_and_run_again_every_line_is_queued_once(folder: Folder) -> None:
    lines = 6_000
    people = "email,name,city\n" + "".join(
        f"person{n}@example.com,P{n},Rome\n" for n in range(lines)
    )
    words = folder.words(people)
    environment = os.environ | {k: v for k, v in folder.cli.environment.items() if v}
    first = subprocess.Popen(
        [sys.executable, "-m", "mailqueue", *words],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while folder.count() == 0 and time.monotonic() < deadline:
        time.sleep(0.01)

    first.kill()
    first.wait()
    killed_at = folder.count()
    again = folder.document(people)

    assert 0 < killed_at < lines, "the kill came in the middle"
    assert again["there_already"] >= killed_at
    assert again["queued"] + again["there_already"] == lines
    addresses = [mail[0] for mail in folder.mails()]
    assert len(addresses) == len(set(addresses)) == lines
    assert folder.cli("verify").exit_code == 0


def test_lines_with_ids_are_logged_once_and_a_trial_is_not(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = log_of(log_lines, monkeypatch)
    asked = ("--custom-data", '{"correlation_id": "81"}')
    folder.enqueue(PEOPLE, *asked, "--dry-run")
    assert written.getvalue() == b""

    for _ in range(2):
        assert folder.enqueue(PEOPLE, *asked).exit_code == 0

    found = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [line["recipient"] for line in found] == ["a***@example.com", "b***@example.com"]
    assert {line["correlation_id"] for line in found} == {"81"}
