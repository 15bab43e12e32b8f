"""Complete messages, as mail programs write them, and how one is accepted."""

from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.raw import RawEmail, accept_prepared, prepared
from mailqueue.mail.model import BatchRow


def raw(*fields: bytes, body: bytes = b"\r\nHello\r\n") -> bytes:
    return b"".join(field + b"\r\n" for field in fields) + body


def simple(*more: bytes) -> bytes:
    return raw(b"From: shop@example.com", b"To: ann@example.com", b"Message-ID: <x@y.zz>", *more)


async def accept_raw(conn: Conn, email: RawEmail, *, project: str) -> BatchRow:
    """Accept one message; return the row of its first mail."""
    (row,) = await accept_prepared(conn, [prepared(email)], project=project)
    return row
