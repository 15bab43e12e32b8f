"""Sends the replies of a connection in the order of its commands, however long some take."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from mailqueue.smtp.server import answer as server_answer
from mailqueue.smtp.server.answer import SmtpReply

Waiting = asyncio.Task[SmtpReply | None]


class ReplyQueue:
    """Replies that are ready and tasks whose reply is pending, in order.

    `moved` is called when a task has finished. `hung_up` is true after a task returned None or a
    closing reply was sent: nothing more is sent. With `copies` above 1, the reply to a command is
    sent that many times (LMTP).
    """

    __slots__ = (
        "_copies",
        "_line",
        "_loop",
        "_moved",
        "_ready",
        "copies",
        "hung_up",
        "waiting",
        "waiting_bytes",
    )

    def __init__(self, loop: asyncio.AbstractEventLoop, moved: Callable[[], None]) -> None:
        self._loop = loop
        self._moved = moved
        self._ready: list[bytes] = []
        self._line: deque[bytes | Waiting] = deque()
        self.waiting = 0
        self.waiting_bytes = 0
        self.hung_up = False
        self.copies = 1
        self._copies: dict[Waiting, int] = {}

    def add(self, line: bytes) -> None:
        """Queue a reply line."""
        line = line * self.copies
        if self._line:
            self._line.append(line)
        else:
            self._ready.append(line)

    def wait_for(self, work: Coroutine[Any, Any, SmtpReply | None], *, size: int = 0) -> None:
        """Queue the reply that `work` returns; it holds `size` bytes of memory until then."""
        task = self._loop.create_task(work)
        self.waiting += 1
        self.waiting_bytes += size
        self._copies[task] = self.copies

        def answered(_task: Waiting) -> None:
            self.waiting -= 1
            self.waiting_bytes -= size
            self._advance()
            self._moved()

        self._line.append(task)
        task.add_done_callback(answered)

    def take(self) -> bytes:
        """Return the bytes that can be sent now."""
        out = b"".join(self._ready)
        self._ready.clear()
        return out

    def cancel(self) -> None:
        """Cancel the pending tasks: the connection is closed."""
        self.hung_up = True
        for each in self._line:
            if isinstance(each, asyncio.Task):
                each.cancel()

    def _advance(self) -> None:
        while self._line and not self.hung_up:
            head = self._line[0]
            if isinstance(head, asyncio.Task):
                if not head.done():
                    return
                self._take_answer(head)
            else:
                self._ready.append(head)
            self._line.popleft()

    def _take_answer(self, task: Waiting) -> None:
        copies = self._copies.pop(task, 1)
        if task.cancelled():
            self.hung_up = True
            return
        fault = task.exception()
        if fault is not None:
            context = {"message": "accepting a message failed", "exception": fault, "task": task}
            self._loop.call_exception_handler(context)
        answer = server_answer.FAILED if fault is not None else task.result()
        if answer is None:
            self.hung_up = True
            return
        self._ready.append(answer.line() * copies)
        self.hung_up = answer.code == server_answer.CLOSING
