"""A submitted mail arrives byte for byte, signed, also when workers are killed."""

import smtplib
import ssl
from urllib.parse import urlsplit

import dkim
import pytest

from tests.whole.running import Up, eventually

pytestmark = pytest.mark.timeout(300)
DOMAIN = "handed-in.example"
MESSAGE = (
    b"Received: from laptop by relay; Fri, 20 Nov 2026 10:00:00 +0000\r\n"
    b"Date: Fri, 20 Nov 2026 10:00:00 +0000\r\n"
    b"From: =?utf-8?q?Gr=C3=BC=C3=9Fe?= <shop@handed-in.example> (a comment)\r\n"
    b"To: Ann\r\n\t<ann@first.example>\r\n"
    b"Subject:  two  spaces \t and a tab\r\n"
    b"Message-ID: <81@handed-in.example>\r\n"
    b"X-Odd : kept\r\n"
    b"\r\n"
    b".a line that begins with a dot\r\n..two\r\n \r\nRaw \xc3\xa9 octets  \r\n\r\n\r\n"
)


def handed_in(up: Up, octets: bytes, *to: str, sender: str = "x@example.com") -> str:
    """Submit a message under STARTTLS; return its id."""
    where = urlsplit(up.ready["submission"])
    context = ssl.create_default_context(cafile=str(up.home.data / "submission.pem"))
    with smtplib.SMTP("localhost", where.port or 0, timeout=120) as client:
        client.starttls(context=context)
        client.login("apikey", up.ready["api_key"])
        client.mail(sender, ["BODY=8BITMIME"])
        for address in to:
            client.rcpt(address)
        code, said = client.data(octets)
    assert code == 250, said
    return said.decode().partition("queued as ")[2].split()[0]


def test_a_message_arrives_octet_for_octet(shared_up: Up) -> None:
    hidden = b"Bcc: ben@first.example\r\nX-Mailqueue-Category: news\r\n"

    email_id = handed_in(shared_up, hidden + MESSAGE, "ann@first.example", "ben@first.example")

    (arrived,) = eventually(lambda: shared_up.caught("first.example"))
    assert arrived == MESSAGE
    shown = shared_up.home.json("email", "show", email_id)
    assert "two  spaces" in str(shown)
    assert shared_up.home.run("why", email_id).returncode == 0
    assert shared_up.home.run("verify").returncode == 0


def test_a_message_to_many_reaches_each_of_them_once(shared_up: Up) -> None:
    everyone = ["ann@many.example", *(f"b{n}@many.example" for n in range(999))]

    first = handed_in(shared_up, MESSAGE.replace(b"<81@", b"<83@"), *everyone)

    query = (
        "SELECT raw, rcpt_to FROM mailqueue.trap_messages WHERE rcpt_to[1] LIKE '%%@many.example'"
    )
    caught = eventually(lambda: shared_up.rows(query), lambda found: len(found) == 20)
    assert {bytes(raw) for raw, _ in caught} == {MESSAGE.replace(b"<81@", b"<83@")}
    assert sorted(one for _, to in caught for one in to) == sorted(everyone)
    [[ids]] = shared_up.rows("SELECT email_ids FROM mailqueue.batches WHERE id = %s", first)
    assert len(ids) == 20
    assert shared_up.home.run("verify").returncode == 0


def test_a_message_is_signed_by_us(shared_up: Up) -> None:
    home = shared_up.home
    records = home.json("dkim", "create", DOMAIN, "--algorithm", "both")["data"]
    home.json("dkim", "verify", DOMAIN, "--force")
    published = {each["dns_name"]: each["dns_txt_record"].encode() for each in records}

    # The judge does not read a space before a colon.
    message = MESSAGE.replace(b"<81@", b"<82@").replace(b"X-Odd :", b"X-Odd:")

    handed_in(shared_up, message, "ann@second.example")

    (arrived,) = eventually(lambda: shared_up.caught("second.example"))
    assert arrived.endswith(message)
    judge = dkim.DKIM(arrived)
    for place in (0, 1):
        assert judge.verify(
            idx=place, dnsfunc=lambda name, **_: published[name.decode().rstrip(".")]
        )
