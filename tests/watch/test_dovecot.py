"""Mail at Debian's Dovecot is reported by its arrival, over each kind of connection."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mailqueue.adapters.mailboxes.imap import ImapReader
from mailqueue.core.secret import Secret
from mailqueue.ports.mailbox import MailboxAccess, MailboxScan, MailboxTls, ScanFault
from mailqueue.watch.reading import read_mail
from tests.watch.dovecot import PASSWORD, USER, Dovecot, dovecot
from tests.watch.fake_imap import mail
from tests.webhooks.delivering import LOOPBACK

pytestmark = [pytest.mark.anyio, pytest.mark.dovecot]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Dovecot]:
    with dovecot(tmp_path) as running:
        yield running


def access(
    server: Dovecot,
    *folders: str,
    tls: MailboxTls = MailboxTls.NONE,
    password: str = PASSWORD,
) -> MailboxAccess:
    port = server.tls_port if tls is MailboxTls.IMPLICIT else server.port
    return MailboxAccess("127.0.0.1", port, tls, USER, Secret(password), folders or ("INBOX",))


@pytest.mark.parametrize("tls", [*MailboxTls])
async def test_what_arrives_is_read_over_each_kind_of_connection(
    server: Dovecot, tls: MailboxTls
) -> None:
    reader = ImapReader(LOOPBACK, tls_context=server.context)
    where = access(server, tls=tls)
    server.add(mail(1, subject="Old"))
    first = await reader.scan(where, {}, since=None)
    assert isinstance(first, MailboxScan), first
    assert first.mails == ()
    server.add(mail(2, subject="=?utf-8?q?Gr=C3=BC=C3=9Fe?="))
    server.add(mail(3, subject="Big", text="word " * 100_000))
    now = datetime.now(UTC)
    second = await reader.scan(where, first.cursors, since=now - timedelta(minutes=2))

    assert isinstance(second, MailboxScan), second
    read = [read_mail(one.octets) for one in second.mails]
    assert [one.subject for one in read] == ["Grüße", "Big"]
    assert read[1].preview == ("word " * 30).strip()
    assert all(abs(one.received_at - now) < timedelta(minutes=1) for one in second.mails)
    third = await reader.scan(where, second.cursors, since=now)
    assert isinstance(third, MailboxScan)
    assert (third.mails, third.cursors) == ((), second.cursors)


async def test_reading_leaves_mail_unread_and_copies_keep_their_time_of_arrival(
    server: Dovecot,
) -> None:
    reader = ImapReader(LOOPBACK)
    where = access(server, "INBOX", "Rechnungen")
    first = await reader.scan(where, {}, since=None)
    assert isinstance(first, MailboxScan), first
    server.add(mail(1))
    server.copy("Rechnungen")
    later = datetime.now(UTC) + timedelta(seconds=2)
    copied = await reader.scan(where, first.cursors, since=None)
    assert isinstance(copied, MailboxScan)
    arrivals = {one.folder: one.received_at for one in copied.mails}
    assert arrivals["INBOX"] == arrivals["Rechnungen"]
    server.add(mail(2), folder="Junk")
    server.move_from("Junk")
    moved = await reader.scan(where, copied.cursors, since=later)

    assert isinstance(moved, MailboxScan)
    assert moved.mails == (), "it arrived before the last scan"
    with server._client() as client:
        client.select("INBOX", readonly=True)
        assert client.search(None, "SEEN")[1] == [b""]


async def test_mail_that_its_owner_reads_opens_no_folder_and_is_not_new(server: Dovecot) -> None:
    reader, where = ImapReader(LOOPBACK), access(server)
    for number in range(20):
        server.add(mail(number))
    first = await reader.scan(where, {}, since=None)
    assert isinstance(first, MailboxScan), first
    with server._client() as client:
        before = client.status("INBOX", "(UIDNEXT HIGHESTMODSEQ)")[1][0]
        client.select("INBOX")
        client.uid("STORE", "1:*", "+FLAGS.SILENT", r"(\Seen)")
        client.close()
        after = client.status("INBOX", "(UIDNEXT HIGHESTMODSEQ)")[1][0]
    assert before != after, "CONDSTORE would have something to read"
    second = await reader.scan(where, first.cursors, since=None)

    assert second == MailboxScan(first.cursors), "UIDNEXT has not changed"


@pytest.mark.parametrize(
    ("folder", "why"),
    [("Junk", "holds junk mail"), ("Fehlt", "there is no folder Fehlt")],
)
async def test_a_folder_that_is_not_to_be_watched_is_refused(
    server: Dovecot, folder: str, why: str
) -> None:
    found = await ImapReader(LOOPBACK).scan(access(server, folder), {}, since=None)

    assert isinstance(found, ScanFault)
    assert (found.is_refusal, why in found.reason) == (True, True)


async def test_a_wrong_password_is_a_refusal_and_shows_in_no_reason(server: Dovecot) -> None:
    found = await ImapReader(LOOPBACK).scan(access(server, password="guess"), {}, since=None)

    assert found == ScanFault("the server refused the login", is_refusal=True)


async def test_a_certificate_that_is_not_trusted_ends_the_scan_before_the_login(
    server: Dovecot,
) -> None:
    for tls in (MailboxTls.IMPLICIT, MailboxTls.STARTTLS):
        found = await ImapReader(LOOPBACK).scan(access(server, tls=tls), {}, since=None)
        assert isinstance(found, ScanFault)
        assert "certificate" in found.reason


async def test_a_private_address_is_not_connected_to_unless_it_is_allowed(
    server: Dovecot,
) -> None:
    from mailqueue.adapters.http.model import PUBLIC_ONLY

    found = await ImapReader(PUBLIC_ONLY).scan(access(server), {}, since=None)

    assert found == ScanFault("127.0.0.1 is not a public address", is_refusal=True)
