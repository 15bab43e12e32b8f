"""`mailqueue send`: one mail, its id, and on request its outcome."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.mail.accept import log_lines
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.cli.support.invoked import Cli
from tests.logged import log_of

HELLO = ("send", "--to", "Ann <ann@example.com>", "--subject", "Hello", "--text", "Hi Ann")


def stored(cli: Cli, email_id: object) -> dict[str, Any]:
    """Return the stored mail with its content."""
    query = """
        SELECT to_jsonb(c) || to_jsonb(q) || jsonb_build_object('subject', c.subject,
                   'html_body', c.html_body, 'text_body', c.text_body, 'headers', c.headers,
                   'from_email', c.from_email, 'from_name', c.from_name, 'reply_to', c.reply_to,
                   'project', p.name)
          FROM mailqueue.email_queue AS q
          JOIN mailqueue.email_contents AS c ON c.id = q.content_id
          JOIN mailqueue.projects AS p ON p.id = q.project_id
         WHERE q.id = %s"""
    found: dict[str, Any] = cli.sql(lambda conn: make.scalar(conn, query, email_id))
    return found


def test_the_id_and_nothing_else_is_printed(on_fresh_db: Cli) -> None:
    result = on_fresh_db(*HELLO)

    assert result.exit_code == 0, result.output
    email = stored(on_fresh_db, UUID(result.stdout.strip()))
    assert (email["recipient_email"], email["recipient_name"]) == ("ann@example.com", "Ann")
    assert (email["subject"], email["text_body"], email["html_body"]) == ("Hello", "Hi Ann", None)
    assert result.stderr == ""


def test_every_option_reaches_the_mail(on_fresh_db: Cli, tmp_path: Path) -> None:
    html = tmp_path / "body.html"
    html.write_bytes(b"\xef\xbb\xbf<p>Gr\xc3\xbc\xc3\x9fe\r\n")
    on_fresh_db.sql(lambda conn: make.project(conn, "shop", postal_address="1 High Street"))

    async def account(conn: Conn) -> None:
        await make.sender_account(
            conn, project_id=await make.project_named(conn, "shop"), name="relay"
        )

    on_fresh_db.sql(account)

    document = on_fresh_db.json(
        "send", "--to", "ann@example.com", "--to", "also@example.com", "--cc", "c@example.com",
        "--bcc", "b@example.com", "--subject", "Grüße 🎉", "--html-file", str(html),
        "--text", "text", "--project", "shop", "--sender", "relay",
        "--from", "Shop <s@example.com>", "--reply-to", "help@example.com",
        "--header", "X-One: 1: a", "--header", "X-Two:2",
        "--priority", "high", "--category", "marketing", "--tag", "a", "--tag", "b",
        "--campaign-id", "spring", "--run-at", "2030-01-01 08:00+00", "--expires-at",
        "2030-01-02 08:00+00", "--idempotency-key", "k", "--custom-data", '{"n": [1]}',
        "--max-attempts", "7", "--delivery", "resend",
    )  # fmt: skip

    email = stored(on_fresh_db, document["id"])
    wanted = {
        "project": "shop", "subject": "Grüße 🎉", "html_body": "<p>Grüße\r\n", "text_body": "text",
        "from_email": "s@example.com", "from_name": "Shop", "reply_to": "help@example.com",
        "headers": {"X-One": "1: a", "X-Two": "2"}, "priority": 1, "category": "marketing",
        "tags": ["a", "b"], "campaign_id": "spring", "idempotency_key": "k", "recipients": 4,
        "custom_data": {"n": [1]}, "max_attempts": 7, "delivery": "resend",
    }  # fmt: skip
    assert {name: email[name] for name in wanted} == wanted
    assert email["run_at"].startswith("2030-01-01T08:00:00")
    assert email["expires_at"].startswith("2030-01-02T08:00:00")
    assert document["status"] == "queued"


def test_a_body_comes_from_standard_input(on_fresh_db: Cli) -> None:
    result = on_fresh_db(
        "send", "--to", "a@example.com", "--subject", "s", "--text-file", "-", stdin="from a pipe"
    )

    assert stored(on_fresh_db, result.stdout.strip())["text_body"] == "from a pipe"


def test_the_same_key_gives_the_same_mail(on_fresh_db: Cli) -> None:
    ids = {on_fresh_db(*HELLO, "--idempotency-key", "once").stdout for _ in range(2)}

    assert len(ids) == 1
    other = on_fresh_db(*HELLO, "--idempotency-key", "once", "--cc", "c@example.com")
    assert other.exit_code == 1
    assert '--idempotency-key: "once" was used for another email' in other.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--to", "ann@@example.com", "--subject", "s", "--text", "t"), "--to: "),
        (("--to", "a@example.com", "--subject", " ", "--text", "t"), "--subject: a subject is"),
        (("--to", "a@example.com", "--subject", "s"), "--html-file: --html-file or --text is"),
        (("--to", "a@example.com", "--subject", "a\nb", "--text", "t"), "--subject: control char"),
        ((*HELLO[1:], "--project", "nowhere"), '--project: there is no project "nowhere"'),
        ((*HELLO[1:], "--sender", "nobody"), '--sender: this project has no sender account "nob'),
        ((*HELLO[1:], "--priority", "urgent"), "--priority: critical, high, normal or low"),
        ((*HELLO[1:], "--header", "Subject: x"), "--header: Subject is set by mailqueue"),
        ((*HELLO[1:], "--run-at", "whenever"), "--run-at: a timestamp is needed"),
        ((*HELLO[1:], "--max-attempts", "0"), "--max-attempts: 1 to 1000"),
        ((*HELLO[1:], "--delivery", "maybe"), "--delivery: resend or hold"),
        ((*HELLO[1:], "--custom-data", '{"a": "\\u0000"}'), "--custom-data: a NUL character"),
    ],
)
def test_bad_input_is_one_line_naming_the_option_and_stores_nothing(
    on_shared_db: Cli, words: tuple[str, ...], message: str
) -> None:
    result = on_shared_db("send", *words)

    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    assert result.stderr.startswith(f"error: {message}")
    assert result.stderr.count("\n") == 1
    contents = "SELECT count(*) FROM mailqueue.email_contents"
    assert on_shared_db.sql(lambda conn: make.scalar(conn, contents)) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*HELLO, "--header", "no colon"), "must be NAME:VALUE"),
        ((*HELLO, "--custom-data", "{"), "this is not JSON"),
        ((*HELLO, "--text-file", "-"), "--text or --text-file, not both"),
        ((*HELLO, "--html-file", "/nowhere/x.html"), "does not exist"),
        ((*HELLO, "--html-file", "/"), "is a directory"),
        (("send", "--subject", "s"), "--to"),
    ],
)
def test_wrong_usage_ends_with_2(on_shared_db: Cli, words: tuple[str, ...], message: str) -> None:
    result = on_shared_db(*words)

    assert result.exit_code == 2
    assert message in result.stderr


def test_a_body_that_is_not_utf8_names_line_and_byte(on_shared_db: Cli, tmp_path: Path) -> None:
    html = tmp_path / "latin.html"
    html.write_bytes(b"<p>fine\n<p>caf\xe9")

    result = on_shared_db(
        "send", "--to", "a@example.com", "--subject", "s", "--html-file", str(html)
    )

    assert result.exit_code == 2
    assert "is not UTF-8: line 2 has byte 0xe9; convert it" in " ".join(result.stderr.split())


def test_a_suppressed_recipient_is_told_at_once(on_fresh_db: Cli) -> None:
    listed = (
        "INSERT INTO mailqueue.bounce_list (email, bounce_type) VALUES ('ann@example.com', 'hard')"
    )
    on_fresh_db.sql(lambda conn: conn.execute(listed.encode()))

    document = on_fresh_db.json(*HELLO)
    waited = on_fresh_db(*HELLO, "--wait")

    assert (document["status"], document["reason"]) == ("suppressed", "hard_bounce")
    assert waited.exit_code == 1
    assert "suppressed at" in waited.stderr


@pytest.mark.deep
def test_waiting_ends_with_the_outcome(on_fresh_db: Cli) -> None:
    """The test claims and settles the mail while the command polls."""
    on_fresh_db.sql(make.sender_account)
    sending = subprocess.Popen(
        [sys.executable, "-m", "mailqueue", *HELLO, "--wait", "--json"],
        env=os.environ | {k: v for k, v in on_fresh_db.environment.items() if v},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        asyncio.run(_sent_by_hand(on_fresh_db.database))
        out, err = sending.communicate(timeout=60)
    finally:
        sending.kill()

    assert sending.returncode == 0, err
    assert json.loads(out)["status"] == "sent"
    assert any(words in err for words in ("no worker is running", "next in its lane", "being sent"))


async def _sent_by_hand(database: str) -> None:
    async with connect(DatabaseSettings(Secret(database))) as conn:
        for _ in range(1200):
            worker = await make.worker(conn)
            claimed = await make.claimed(conn, worker)
            if claimed:
                break
            await conn.execute("SELECT mailqueue.stop_worker(%s)", (worker,))
            await asyncio.sleep(0.05)
        [(email_id, claim_no)] = claimed
        await conn.execute(
            "SELECT mailqueue.settle_emails(%s, %s, '{sent}', '{NULL}', '{NULL}', '{1}', '{0}',"
            " '{sent}', '{m}', '{NULL}', '{250}', '{NULL}', '{ok}', '{1}', '{f}')",
            ([email_id], [claim_no]),
        )


def test_files_are_sent_along(on_fresh_db: Cli, tmp_path: Path) -> None:
    bill, logo = tmp_path / "bill.pdf", tmp_path / "logo.png"
    bill.write_bytes(b"%PDF-1.7 bill")
    logo.write_bytes(b"\x89PNG\r\n\x1a\n logo")
    html = tmp_path / "body.html"
    html.write_text('<img src="cid:logo">')

    body = ("--html-file", str(html), "--attach", str(bill), "--inline", f"logo={logo}")
    result = on_fresh_db(*HELLO[:5], *body)

    assert result.exit_code == 0, result.output
    email_id = UUID(result.stdout.strip())
    described = stored(on_fresh_db, email_id)["files"]
    assert [(one["name"], one["type"], one.get("cid")) for one in described] == [
        ("bill.pdf", "application/pdf", None),
        ("logo.png", "image/png", "logo"),
    ]


def test_a_file_that_cannot_be_read_or_sent_is_named(on_fresh_db: Cli, tmp_path: Path) -> None:
    away = on_fresh_db(*HELLO, "--attach", str(tmp_path / "away.pdf"))
    assert away.exit_code == 2
    assert "away.pdf: no such file or directory" in away.stderr

    script = tmp_path / "run.sh"
    script.write_text("#!/bin/sh\n")
    refused = on_fresh_db(*HELLO, "--attach", str(script))
    assert refused.exit_code == 1
    assert "is not allowed in this project" in refused.stderr


def test_mail_to_the_name_of_a_list_prints_the_batch(on_fresh_db: Cli) -> None:
    on_fresh_db("contact", "put", "ann@example.com")
    on_fresh_db("list", "add", "news", "--description", "News")
    on_fresh_db("list", "members", "add", "news", "ann@example.com")
    to_list = ("send", "--to", "news", "--subject", "Hi", "--text", "Hi", "--category", "marketing")

    result = on_fresh_db(*to_list)
    as_json = json.loads(on_fresh_db(*to_list, "--json").stdout)

    batch = UUID(result.stdout.strip())
    assert result.stderr.strip() == f"workers make its emails: mailqueue email list --batch {batch}"
    assert (as_json["status"], as_json["id"] != str(batch)) == ("expanding", True)
    query = "SELECT array_agg(batch_id ORDER BY id) FROM mailqueue.list_sends"
    sends = on_fresh_db.sql(lambda conn: make.scalar(conn, query))
    assert sends == [batch, UUID(as_json["id"])]

    for given, code, why in (
        (("--wait",), 2, "--wait is for one email"),
        (("--to", "bob@example.com"), 1, "--to: "),
        (("--category", "transactional"), 1, "--category: "),
    ):
        refused = on_fresh_db(*to_list, *given)
        assert refused.exit_code == code, refused.output
        assert why in refused.stderr


def test_an_email_with_ids_has_a_log_line_beside_the_output(
    on_fresh_db: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = log_of(log_lines, monkeypatch)
    data = '{"correlation_id": "81"}'
    result = on_fresh_db(*HELLO, "--custom-data", data, "--idempotency-key", "81")
    on_fresh_db(*HELLO, "--custom-data", data, "--idempotency-key", "81")

    (line,) = map(json.loads, written.getvalue().splitlines())
    assert line["email_id"] == result.stdout.strip()
    assert (line["correlation_id"], line["recipient"]) == ("81", "a***@example.com")
