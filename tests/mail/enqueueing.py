"""SQL's enqueue() for tests, by the statement of the producer library."""

from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.producer import store
from mailqueue.producer.message import EnqueueMessage


async def enqueue(conn: Conn, email: NewEmail, *, project: str) -> UUID:
    """Accept one email and return its id; raise InvalidField if it is refused."""
    message = EnqueueMessage(email.recipient, email.subject, email.html, email.text, email.options)
    return await store.enqueue_async(conn, project, message)
