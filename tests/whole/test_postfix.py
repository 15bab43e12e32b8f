"""Published mail servers accept the same mails unchanged."""

from dataclasses import replace
from pathlib import Path

import pytest

from mailqueue.embedded.service_user import Account
from tests.whole.difficult_mails import Letter, inserts, letters, read
from tests.whole.postfix import DOMAIN, Files, make_home, postfix, relay, sinking
from tests.whole.running import Up, eventually

pytestmark = pytest.mark.timeout(300)

COUNTS = [500, pytest.param(10_000, marks=pytest.mark.soak)]


def send_by(server: Files, up: Up, project: str, mails: list[Letter]) -> None:
    """Queue mails in a project whose relay is the server, and wait until all are sent."""
    up.rows("INSERT INTO mailqueue.projects (name) VALUES (%s) RETURNING id", project)
    up.home.json(
        *("sender", "add", "--project", project, "--name", "relay", "--host", "127.0.0.1"),
        *("--port", str(server.port), "--tls", "none", "--from", "Shop <shop@example.com>"),
    )
    up.psql(inserts(mails, project=project))
    sent = "SELECT count(*) FROM mailqueue.emails WHERE project = %s AND status = 'sent'"
    eventually(lambda: up.value(sent, project), lambda n: n == len(mails), seconds=120)


@pytest.mark.smtp_sink
@pytest.mark.parametrize("count", COUNTS)
def test_smtp_sink_gets_every_mail_once_and_unharmed(
    shared_up: Up, reachable_folder: Path, service_user: Account, count: int
) -> None:
    mails = letters(count, f"sink{count}.example")
    with sinking(reachable_folder / f"sink{count}", service_user) as server:
        send_by(server, shared_up, f"sink{count}", mails)
        eventually(lambda: len(server), lambda taken: taken >= count)

        arrived = sorted(map(read, server.messages()))
    assert arrived == sorted(mail.arrived() for mail in mails)


@pytest.mark.postfix
@pytest.mark.parametrize("count", COUNTS)
def test_postfix_delivers_every_mail_to_a_mailbox_once_and_unharmed(
    shared_up: Up, reachable_folder: Path, service_user: Account, count: int
) -> None:
    user = service_user.name
    mails = [
        replace(mail, to=f"{user}+{mail.to.partition('@')[0]}@{DOMAIN}")
        for mail in letters(count, DOMAIN)
    ]
    with postfix(reachable_folder / f"postfix{count}", user) as server:
        send_by(server, shared_up, f"postfix{count}", mails)
        eventually(lambda: len(server), lambda taken: taken >= count, seconds=120)

        arrived = sorted(map(read, server.messages()))
    assert arrived == sorted(mail.arrived() for mail in mails)


@pytest.mark.postfix
def test_what_postfix_refuses_can_be_read_with_the_attempt(
    shared_up: Up, reachable_folder: Path
) -> None:
    home = reachable_folder / "refusing"
    make_home(home)
    documented = "smtpd_recipient_restrictions = reject_unauth_destination"
    with relay(home, name="mx.example.com", documented=documented) as port:
        shared_up.rows("INSERT INTO mailqueue.projects (name) VALUES ('refusing') RETURNING id")
        shared_up.home.json(
            *("sender", "add", "--project", "refusing", "--name", "relay", "--host", "127.0.0.1"),
            *("--port", str(port), "--tls", "none", "--from", "shop@example.com"),
        )
        ((email,),) = shared_up.rows(
            "INSERT INTO mailqueue.email_queue (project, recipient_email, subject, text_body)"
            " VALUES ('refusing', 'nobody@elsewhere.example', 'Hello', 'Hello') RETURNING id"
        )
        shown = eventually(
            lambda: shared_up.home.json("email", "show", str(email))["attempts"], bool, seconds=60
        )

    lines = [(each["by"], each["text"]) for each in shown[0]["conversation"]["lines"]]
    assert lines[0][0] == "server"
    assert lines[0][1].startswith("220 mx.example.com ESMTP Postfix")
    assert [text for by, text in lines if by == "client"][-2:] == [
        "RCPT TO:<nobody@elsewhere.example>",
        "DATA",
    ]
    assert [text for by, text in lines if by == "server"][-2:] == [
        "554 5.7.1 <nobody@elsewhere.example>: Relay access denied",
        "554 5.5.1 Error: no valid recipients",
    ]
