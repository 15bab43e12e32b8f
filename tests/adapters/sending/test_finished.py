"""A message that a program wrote is taken apart for providers that take fields."""

from uuid import UUID

from mailqueue.adapters.sending.parts import Person, parts_of
from mailqueue.ports.transport import Envelope, SendAttempt

MESSAGE = (
    b"Received: from a by b; Fri, 20 Nov 2026 10:00:00 +0000\r\n"
    b'From: "Shop, the" <shop@example.com> (a comment)\r\n'
    b"To: =?iso-8859-1?q?=C4nn?= <ann@example.com>,\r\n\tother@example.org\r\n"
    b"Subject: Hello\r\n there\r\n"
    b"Message-ID: <a@example.com>\r\n"
    b"X-Kept: yes\r\n"
    b"Content-Type: multipart/mixed; boundary=one\r\n\r\n"
    b"--one\r\nContent-Type: multipart/alternative; boundary=two\r\n\r\n"
    b"--two\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\nGr\xfc\xdfe\r\n"
    b"--two\r\nContent-Type: text/html\r\n\r\n<p>x</p>\r\n--two--\r\n"
    b'--one\r\nContent-Type: application/pdf; name="a.pdf"\r\n\r\n%PDF\r\n--one--\r\n'
)


def test_what_a_program_wrote_comes_out_as_fields() -> None:
    envelope = Envelope("bounces@example.com", ("ann@example.com", "hidden@example.com"))

    parts = parts_of(SendAttempt(UUID(int=1), envelope, MESSAGE))

    assert parts.sender == Person("Shop, the", "shop@example.com")
    assert parts.to == (Person("Änn", "ann@example.com"),)
    assert parts.bcc == (Person("", "hidden@example.com"),)
    assert (parts.subject, parts.text, parts.html) == ("Hello there", "Grüße", "<p>x</p>")
    assert parts.headers == (("X-Kept", "yes"),)
    assert [(file.name, file.octets) for file in parts.files] == [("a.pdf", b"%PDF")]
