"""`mailqueue watch`: arguments and output."""

from tests.api.support.wired import MASTER
from tests.cli.support.invoked import Cli
from tests.watch.fake_slack import CLIENT_ID, CLIENT_SECRET
from tests.watch.watching import ACCOUNT, AUTH_TOKEN, PHONE, PUBLIC_URL, SENDER, TEMPLATE, TOKEN


def test_inbox_watch_is_set_up_and_taken_down_by_commands(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    cli.environment |= {
        "MAILQUEUE_MASTER_KEY": MASTER,
        "INBOX_PASSWORD": "correct horse",
        "SLACK_BOT_TOKEN": TOKEN,
    }
    user = cli.json("watch", "user", "add", "ann@example.com")["id"]
    added = cli(
        *("watch", "inbox", "add", "ann@example.com", "--user", user),
        *("--host", "imap.example.com", "--password-env", "INBOX_PASSWORD"),
    )
    assert added.exit_code == 0, added.stderr
    assert "correct horse" not in added.stdout
    (inbox,) = cli.json("watch", "inbox", "list")["data"]
    assert (inbox["status"], inbox["last_scanned_at"]) == ("active", None)
    assert cli.json("watch", "inbox", "pause", inbox["id"])["status"] == "paused"
    assert f"watch inbox resume {inbox['id']}" in cli("why", inbox["id"]).stdout
    assert cli.json("watch", "inbox", "resume", inbox["id"])["status"] == "active"
    assert cli.json("watch", "inbox", "scan", inbox["id"])["id"] == inbox["id"]
    again = ("watch", "inbox", "reconnect", inbox["id"], "--password-env", "INBOX_PASSWORD")
    assert cli.json(*again)["status"] == "active"
    assert cli.json("watch", "inbox", "show", inbox["id"])["host"] == "imap.example.com"

    slack = ("--slack", "C0123456789", "--token-env", "SLACK_BOT_TOKEN")
    channel = cli.json("watch", "channel", "add", "--user", user, *slack)["id"]
    assert cli.json("watch", "channel", "reconnect", channel, *slack)["status"] == "active"
    assert "C0123456789" in cli("watch", "channel", "list").stdout

    rule = cli.json("watch", "rule", "add", "sender", "example.com", "--user", user)["id"]
    assert cli.json("watch", "rule", "change", rule, "--disable")["is_active"] is False
    assert cli.json("watch", "rule", "list")["data"][0]["id"] == rule
    tried = cli("watch", "rule", "try", "subject", "invoice", "--subject", "Invoice 81")
    assert tried.stdout == "it matches\n"
    assert cli("watch", "rule", "remove", rule).exit_code == 0

    assert cli.json("watch", "notification", "list", "--status", "failed")["data"] == []
    none = cli("watch", "notification", "retry", user)
    assert none.stdout == "0 of 1 are delivered again\n"
    assert cli("watch", "notification", "show", user).exit_code == 1

    assert cli.json("watch", "user", "pause", user)["notifications_paused"] is True
    assert cli.json("watch", "user", "resume", user)["notifications_paused"] is False
    assert cli("watch", "channel", "disconnect", channel, "--yes").exit_code == 0
    assert cli("watch", "inbox", "remove", inbox["id"], "--yes").exit_code == 0
    assert cli("watch", "user", "remove", user, "--yes").exit_code == 0
    assert cli.json("watch", "user", "list")["data"] == []


def test_senders_are_muted_listed_and_unmuted_by_commands(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    cli.environment |= {"MAILQUEUE_MASTER_KEY": MASTER, "BOT": "xoxb-0000000000-example"}
    cli.environment |= {"SIGNING": "0123456789abcdef0123456789abcdef", "SHORT": "abc"}
    user = cli.json("watch", "user", "add", "ann@example.com")["id"]
    adding = ("watch", "channel", "add", "--user", user, "--slack", "C01", "--token-env", "BOT")
    assert "signing_secret: must be" in cli(*adding, "--signing-secret-env", "SHORT").stderr
    added = cli(*adding, "--signing-secret-env", "SIGNING")
    assert added.exit_code == 0, added.stderr
    muting = ("watch", "muted", "add", "Shop@Example.com", "--user", user)
    muted = cli.json(*muting)
    assert muted["sender_address"] == "shop@example.com"
    assert "muted" in cli(*muting).stderr
    assert cli.json("watch", "muted", "list", "--user", user)["data"] == [muted]
    assert cli("watch", "muted", "remove", muted["id"]).exit_code == 0
    assert cli.json("watch", "muted", "list")["data"] == []


def test_a_phone_is_connected_with_consent_by_a_command(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    cli.environment |= {"MAILQUEUE_MASTER_KEY": MASTER, "TWILIO_AUTH_TOKEN": AUTH_TOKEN}
    user = cli.json("watch", "user", "add", "ann@example.com")["id"]
    adding = ("watch", "channel", "add", "--user", user, "--token-env", "TWILIO_AUTH_TOKEN")
    phone = ("--whatsapp", PHONE, "--account", ACCOUNT, "--sender", SENDER, "--template", TEMPLATE)
    consent = ("--consent-source", "a form", "--consent-wording", "Notify me")
    assert "consent-source: is needed" in cli(*adding, *phone).stderr
    assert "give either --slack or --whatsapp" in cli(*adding).stderr
    shown = cli(*adding, *phone, *consent, "--consent-at", "2026-05-01T08:00:00Z")
    assert shown.exit_code == 0, shown.stderr
    assert AUTH_TOKEN not in shown.stdout

    (found,) = cli.json("watch", "channel", "list")["data"]
    assert (found["channel_type"], found["phone_number"]) == ("whatsapp", PHONE)
    assert found["consent_given_at"].startswith("2026-05-01T08:00:00")
    again = ("watch", "channel", "reconnect", found["id"], "--token-env", "TWILIO_AUTH_TOKEN")
    assert cli.json(*again)["status"] == "active"
    assert cli("watch", "channel", "disconnect", found["id"], "--yes").exit_code == 0


def test_a_command_prints_the_link_to_install_the_slack_app(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    user = cli.json("watch", "user", "add", "ann@example.com")["id"]
    installing = ("watch", "channel", "install", "--user", user)
    refused = cli(*installing)
    assert refused.exit_code == 1
    assert "MAILQUEUE_SLACK_CLIENT_ID" in refused.stderr
    cli.environment |= {
        "MAILQUEUE_SLACK_CLIENT_ID": CLIENT_ID,
        "MAILQUEUE_SLACK_CLIENT_SECRET": CLIENT_SECRET,
        "MAILQUEUE_PUBLIC_URL": PUBLIC_URL,
    }
    shown = cli(*installing)
    assert shown.exit_code == 0, shown.stderr
    assert shown.stdout.startswith("https://slack.com/oauth/v2/authorize?client_id=1")
    assert CLIENT_SECRET not in shown.stdout
    assert cli.json(*installing)["url"] != shown.stdout.strip()


def test_the_owner_of_an_inbox_at_gmail_is_sent_to_google(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    user = cli.json("watch", "user", "add", "ann@example.com")["id"]
    command = ("watch", "inbox", "connect", "ann@example.com", "--user", user)
    missing = cli(*command)
    assert missing.exit_code == 1
    assert "MAILQUEUE_GMAIL_CLIENT_ID" in missing.stderr
    cli.environment |= {
        "MAILQUEUE_GMAIL_CLIENT_ID": "client-1",
        "MAILQUEUE_GMAIL_CLIENT_SECRET": "client-secret-word",
    }
    assert "MAILQUEUE_PUBLIC_URL" in cli(*command).stderr
    cli.environment |= {"MAILQUEUE_PUBLIC_URL": "https://mail.example.com"}

    begun = cli(*command, "--label", "INBOX", "--label", "Label_1", "--json")

    assert begun.exit_code == 0, begun.stderr
    assert "https://accounts.google.com/o/oauth2/v2/auth?" in begun.stdout
    assert "client-secret-word" not in begun.stdout
    assert cli(*command, "--label", "SPAM").exit_code == 1
    del cli.environment["MAILQUEUE_GMAIL_CLIENT_SECRET"]
    assert "set both" in cli(*command).stderr


def test_a_secret_is_not_taken_from_a_pipe(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    user = cli.json("watch", "user", "add", "ann@example.com")["id"]
    asked = cli(
        *("watch", "inbox", "add", "ann@example.com", "--user", user, "--host", "imap.example.com")
    )

    assert asked.exit_code == 1
    assert "password-env: give the environment variable" in asked.stderr


def test_a_person_is_invited_by_a_link_or_by_mail(on_fresh_db: Cli) -> None:
    cli = on_fresh_db
    cli.environment |= {"MAILQUEUE_PUBLIC_URL": PUBLIC_URL}
    user = cli.json("watch", "user", "add", "ann@example.com")["id"]

    link = cli.json("watch", "user", "invite", user, "--link")
    mailed = cli("watch", "user", "invite", user)

    assert link["url"].startswith(f"{PUBLIC_URL}/inbox/default/welcome?link=")
    assert link["email_id"] is None
    assert "ann@example.com" in mailed.stdout
    assert "welcome?link=" not in mailed.stdout

    for _ in range(2):
        cli("watch", "user", "invite", user)
    refused = cli("watch", "user", "invite", user)
    assert refused.exit_code == 1
    assert "too many requests: 3 mails of this kind may go to one person at once" in refused.stderr
