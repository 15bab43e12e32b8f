"""For the tests of applications that queue mail: what is queued, and what would be sent.

mailqueue.testing.install(url)                    once for each test database
assert_queued(conn, to="ann@example.com")         in the transaction of a test
drain(url)                                        sends what is due, to memory
"""

from mailqueue.testing.installation import install, install_async
from mailqueue.testing.memory_transport import SentEmail
from mailqueue.testing.queued import QueuedEmail, assert_none_queued, assert_queued, queued
from mailqueue.testing.sending import NotSent, drain, drain_async

__all__ = [
    "NotSent",
    "QueuedEmail",
    "SentEmail",
    "assert_none_queued",
    "assert_queued",
    "drain",
    "drain_async",
    "install",
    "install_async",
    "queued",
]
