"""The email platform that lives in your own PostgreSQL."""

from mailqueue.core.errors import InvalidField, MailqueueError
from mailqueue.producer.enqueueing import enqueue, enqueue_many
from mailqueue.producer.model import Attachment, Enqueued

__all__ = ["Attachment", "Enqueued", "InvalidField", "MailqueueError", "enqueue", "enqueue_many"]
__version__ = "0.1.0"
