"""Every interface accepts the same mail alike: INSERT, COPY, enqueue(), HTTP and both commands."""

import csv
import json
import urllib.request
from collections.abc import Callable
from email import message_from_bytes, policy
from pathlib import Path

import pytest
from psycopg import sql

from tests.whole.difficult_mails import Letter, inserts, letters, read
from tests.whole.running import Up, eventually

pytestmark = pytest.mark.timeout(300)

Way = Callable[[Up, list[Letter], Path], None]


def by_insert(up: Up, mails: list[Letter], folder: Path) -> None:
    up.psql(inserts(mails))


def by_copy(up: Up, mails: list[Letter], folder: Path) -> None:
    up.psql(
        "COPY mailqueue.email_queue"
        " (recipient_email, recipient_name, subject, text_body, html_body) FROM STDIN;\n"
        f"{''.join(map(_copied, mails))}\\.\n"
    )


def _copied(mail: Letter) -> str:
    """Write a row in COPY's text format."""
    fields = (mail.to, mail.name or None, mail.subject, mail.text, mail.html)
    marks = str.maketrans({"\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"})
    return "\t".join(r"\N" if f is None else f.translate(marks) for f in fields) + "\n"


def by_function(up: Up, mails: list[Letter], folder: Path) -> None:
    call = sql.SQL(
        "SELECT mailqueue.enqueue(recipient => {}, subject => {}, html => {}, text => {});"
    )
    up.psql(
        "".join(
            call.format(_mailbox(mail), mail.subject, mail.html, mail.text).as_string(None)
            for mail in mails
        )
    )


def by_http(up: Up, mails: list[Letter], folder: Path) -> None:
    for mail in mails:
        body = {"to": [_mailbox(mail)], "subject": mail.subject}
        parts = {"html_body": mail.html, "text_body": mail.text}
        request = urllib.request.Request(
            f"{up.ready['api']}/v1/send",
            json.dumps(body | {k: v for k, v in parts.items() if v is not None}).encode(),
            {"X-API-Key": up.ready["api_key"], "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status == 202


def by_send(up: Up, mails: list[Letter], folder: Path) -> None:
    for mail in mails:
        words = ["send", "--to", _mailbox(mail), "--subject", mail.subject]
        if mail.html is not None:
            (folder / "body.html").write_bytes(mail.html.encode())
            words += ["--html-file", str(folder / "body.html")]
        if mail.text is not None:
            words += ["--text", mail.text]
        done = up.home.run(*words)
        assert done.returncode == 0, done.stderr


def by_file(up: Up, mails: list[Letter], folder: Path) -> None:
    people, html, text = (folder / name for name in ("people.csv", "html.j2", "text.j2"))
    html.write_text("{{ html | safe }}")
    text.write_text("{{ text }}")
    with people.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("email", "name", "title", "text", "html"))
        writer.writerows((m.to, m.name, m.subject, m.text, m.html) for m in mails)
    done = up.home.run(
        *("enqueue", str(people), "--subject", "{{ title }}"),
        *("--template-file", str(html), "--text-template-file", str(text)),
    )
    assert done.returncode == 0, done.stderr


def _mailbox(mail: Letter) -> str:
    if not mail.name:
        return mail.to
    name = mail.name.replace("\\", r"\\").replace('"', r"\"")
    return f'"{name}" <{mail.to}>'


@pytest.mark.parametrize("way", [by_insert, by_copy, by_function, by_http, by_send, by_file])
def test_every_way_in_gives_the_same_mail(shared_up: Up, way: Way, tmp_path: Path) -> None:
    domain = f"{way.__name__.replace('_', '-')}.example"
    mails = letters(40, domain)
    if way is by_file:  # a file's mails have the parts that its templates have
        mails = [mail for mail in mails if mail.text and mail.html]
    elif way is by_send:  # a process each
        mails = mails[:4]

    way(shared_up, mails, tmp_path)

    eventually(lambda: shared_up.count_caught(domain), lambda count: count >= len(mails))
    arrived = sorted(map(read, shared_up.caught(domain)))
    assert arrived == sorted(mail.arrived() for mail in mails)


@pytest.mark.parametrize(
    ("way", "words"),
    [
        (
            by_insert,
            (
                "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body)",
                "VALUES ('nobody', 's', 't')",
            ),
        ),
        (
            by_function,
            ("SELECT mailqueue.enqueue(recipient => 'nobody', subject => 's',", "text => 't')"),
        ),
    ],
)
def test_bad_input_names_the_field_and_leaves_nothing(
    shared_up: Up, way: Way, words: tuple[str, str]
) -> None:
    before = shared_up.value("SELECT count(*) FROM mailqueue.emails")

    with pytest.raises(AssertionError, match='recipient_email: "nobody" is not an address'):
        shared_up.psql(" ".join(words))
    sent = shared_up.home.run("send", "--to", "nobody", "--subject", "s", "--text", "t")

    assert sent.returncode == 1
    assert '--to: "nobody" is not an address' in sent.stderr
    assert shared_up.value("SELECT count(*) FROM mailqueue.emails") == before


def test_files_sent_along_arrive_octet_for_octet(shared_up: Up, tmp_path: Path) -> None:
    bill = tmp_path / "Rechnung für Ann.pdf"
    bill.write_bytes(b"%PDF-1.7\n" + bytes(range(256)) * 4000)
    words = ("--to", "ann@files.example", "--subject", "Bill", "--text", "See there.")
    done = shared_up.home.run("send", *words, "--attach", str(bill), "--wait")

    assert done.returncode == 0, done.stderr
    message = message_from_bytes(shared_up.caught("files.example")[0], policy=policy.default)
    (found,) = [part for part in message.walk() if part.get_filename()]
    assert (found.get_filename(), found.get_content_type()) == (bill.name, "application/pdf")
    assert found.get_payload(decode=True) == bill.read_bytes()
