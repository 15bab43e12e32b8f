"""An SMTP server (aiosmtpd) that records what it accepts, in its own thread."""

import asyncio
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

USERNAME, PASSWORD = "shop", "correct horse"


@dataclass
class Sink:
    """The received messages in order; recorded before the reply."""

    answer_after: float = 0.0  # seconds
    answer: str = "250 2.0.0 taken"
    port: int = 0
    taken: list[tuple[list[str], bytes]] = field(default_factory=list)
    logins: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    async def handle_DATA(self, _: SMTP, __: Session, envelope: Envelope) -> str:  # noqa: N802
        content = envelope.original_content
        assert isinstance(content, bytes)
        with self._lock:
            self.taken.append((list(envelope.rcpt_tos), content))
        await asyncio.sleep(self.answer_after)
        return self.answer

    def check(self, _: object, __: object, ___: object, ____: str, data: object) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.logins += 1
        good = (data.login, data.password) == (USERNAME.encode(), PASSWORD.encode())
        return AuthResult(success=good, handled=False)

    def __len__(self) -> int:
        return len(self.taken)

    @property
    def messages(self) -> list[bytes]:
        with self._lock:
            return [content for _, content in self.taken]

    def addresses(self) -> list[str]:
        """Return every envelope recipient, with repetitions."""
        with self._lock:
            return [address for recipients, _ in self.taken for address in recipients]


@contextmanager
def sink(
    *, answer_after: float = 0.0, needs_login: bool = False, answer: str = Sink.answer
) -> Iterator[Sink]:
    """Answer each mail on a free port of loopback until the block ends."""
    server = Sink(answer_after=answer_after, answer=answer)
    loop = asyncio.new_event_loop()

    def conversation() -> SMTP:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a login without TLS: it is loopback
            return SMTP(
                server,
                hostname="mx.example.com",
                loop=loop,
                authenticator=server.check,
                auth_required=needs_login,
                auth_require_tls=False,
            )

    listening = loop.run_until_complete(loop.create_server(conversation, "127.0.0.1", 0))
    server.port = listening.sockets[0].getsockname()[1]
    thread = threading.Thread(target=loop.run_forever, name="sink")
    thread.start()
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(_closed(listening), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _closed(listening: asyncio.Server) -> None:
    """Close the server and every connection, as a machine that shuts down does."""
    listening.close()
    mine = asyncio.current_task()
    conversations = [task for task in asyncio.all_tasks() if task is not mine]
    for task in conversations:
        task.cancel()
    await asyncio.gather(*conversations, return_exceptions=True)
    await asyncio.sleep(0)  # their transports close in the turn after
