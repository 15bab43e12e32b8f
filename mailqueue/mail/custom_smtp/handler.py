"""The handler of queue `custom-smtp`: mark an email and send it by the server that it names.

begin     limits are reserved and the email is marked, in one commit: begin_custom_smtp()
load      the server is opened; content, templates and files are read
send      the email is handed over once: send_now.py
commit    the outcome is written in the transaction that settles the row

A worker that dies after `begin` leaves an email of unknown outcome, which rescue holds.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import ConfigError, Locked, SealBroken
from mailqueue.core.outcome import Again, Defer, Done, Outcome
from mailqueue.db.faults import concerns_rows
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.mail.custom_smtp import store as custom_smtp_store
from mailqueue.mail.custom_smtp.queued import open_server
from mailqueue.mail.custom_smtp.send_now import DEADLINE_SECONDS, RETRY_WAIT, send_marked
from mailqueue.mail.custom_smtp.store import BeginState, BegunQueued
from mailqueue.mail.message.attachments import (
    AttachmentLoader,
    FileRef,
    bytes_of_files,
    read_stored,
)
from mailqueue.mail.message.file_storage import AttachmentStorage
from mailqueue.mail.message.tracking import EmailTracking
from mailqueue.mail.model import ClaimedEmail, Ending, FileFault, LoadedEmail, SendOutcome
from mailqueue.mail.send.correlated import CorrelationLog
from mailqueue.mail.send.load import load_emails
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.ports.transport import Transport
from mailqueue.queue.handler import Call, Handler
from mailqueue.senders.custom_smtp import CustomSmtpServer
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger
from mailqueue.templates.cache import TemplateCache
from mailqueue.vault.masterkey import MasterKey

MAX_FILE_BYTES = 32 * 1024 * 1024
"""Bytes of files of the emails sent at the same time; an email with more is sent beside those
without files."""
MEMORY_WAIT = RETRY_WAIT / 30
"""Wait of an email whose files do not fit in memory now."""

_ANSWERED = frozenset({Ending.SENT, Ending.FAILED})

log = get_logger(__name__)


class ClaimedServer(NamedTuple):
    """A claimed row: the sealed server of one email."""

    id: UUID
    claim_no: int
    project_id: UUID
    sealed: bytes


@dataclass(frozen=True, slots=True)
class Attempted:
    """A marked email and its outcome; `worker_id` stands for this email alone."""

    worker_id: int
    outcome: SendOutcome


@dataclass(frozen=True, slots=True)
class CustomSmtpTools:
    """The adapters that the handler uses: the master key, transports, files, tracking."""

    read_master: Callable[[], MasterKey | None]
    transport_of: Callable[[CustomSmtpServer], Transport]
    storage: AttachmentStorage
    tracking: EmailTracking


class CustomSmtpHandler(Handler[ClaimedServer, Attempted]):
    """Sends emails by custom SMTP servers; outcomes are written in the settling transaction."""

    row = ClaimedServer

    def __init__(self, database: DatabaseSettings, tools: CustomSmtpTools) -> None:
        self._link = Link(database, "mailqueue/custom-smtp-send")
        self._tools = tools
        self._templates = TemplateCache()
        self._files = AttachmentLoader(self._read_files)
        self._file_bytes = 0
        self._correlated = CorrelationLog()

    async def handle(self, row: ClaimedServer) -> Outcome | Attempted:
        async def begin(conn: Conn) -> tuple[BegunQueued, float]:
            end = time.monotonic() + DEADLINE_SECONDS
            return await custom_smtp_store.begin_queued(conn, row.id, row.claim_no), end

        begun, end = await self._link.call(begin)
        match begun.state:
            case BeginState.FINISHED:
                return Done()
            case BeginState.HELD:
                return Done("held")
            case BeginState.MARKED:
                reach("custom-smtp.marked")
                self._correlated.claimed([begun.email])
                try:
                    outcome = await self._attempted(row, begun.email, end=end)
                except BaseException:
                    self._correlated.forget(begun.email.id, begun.email.claim_no)
                    raise
                self._correlated.answered(outcome)
                reach("custom-smtp.answered")
                return Attempted(begun.worker_id, outcome)
            case _:
                return Defer(begun.reason, begun.wait)

    async def commit(
        self, conn: Conn, done: Sequence[tuple[ClaimedServer, Attempted]]
    ) -> list[Outcome]:
        await self.commit_lost(conn, done)
        due = await custom_smtp_store.read_due(conn, [row.id for row, _ in done])
        return [Again(at=due[row.id]) if row.id in due else Done() for row, _ in done]

    async def commit_lost(
        self, conn: Conn, done: Sequence[tuple[ClaimedServer, Attempted]]
    ) -> None:
        # By project, as each locks the limits of its own.
        for _, work in sorted(done, key=lambda each: each[0].project_id):
            await custom_smtp_store.settle(conn, work.worker_id, work.outcome)

    def is_answered(self, result: Outcome | Attempted) -> bool:
        if isinstance(result, Attempted):
            return result.outcome.ending in _ANSWERED
        return isinstance(result, Done)

    async def rest(self, call: Call) -> None:
        try:
            await call(custom_smtp_store.sweep)
        except Exception as exc:  # a row that cannot be swept does not stop the others
            if not concerns_rows(exc):
                raise
            log.exception("custom_smtp.not_swept")

    async def close(self) -> None:
        await self._link.close()

    async def _attempted(
        self, row: ClaimedServer, email: ClaimedEmail, *, end: float
    ) -> SendOutcome:
        """Send one marked email; what is raised makes the outcome unknown."""
        try:
            server = await self._server(row, email)
            if isinstance(server, SendOutcome):
                return server
            (mail,) = await load_emails(self._link.call, [email], self._templates)
            (mail,) = await self._tools.tracking.inject([mail], self._link.call)
            return await self._sent(mail, server, end=end)
        except Exception as exc:
            log.exception("custom_smtp.failed", email_id=str(email.id))
            return _unsent(email, Ending.UNKNOWN, f"{type(exc).__name__} while sending")

    async def _server(
        self, row: ClaimedServer, email: ClaimedEmail
    ) -> CustomSmtpServer | SendOutcome:
        """Return the opened server, or the outcome of an email whose server cannot be opened."""
        try:
            return await self._link.call(partial(self._opened, row=row))
        except (Locked, ConfigError, SealBroken) as exc:  # another host may have the key
            return _unsent(email, Ending.DEFER, str(exc))._replace(wait=RETRY_WAIT)
        except ValueError:
            return _unsent(email, Ending.FAILED, "its server is stored in an unknown form")

    async def _opened(self, conn: Conn, row: ClaimedServer) -> CustomSmtpServer:
        master = self._tools.read_master()
        if master is None:
            raise ConfigError("its server is sealed, and there is no MAILQUEUE_MASTER_KEY")
        return await open_server(
            conn, master, project_id=row.project_id, server_id=row.id, sealed=row.sealed
        )

    async def _sent(
        self, mail: LoadedEmail, server: CustomSmtpServer, *, end: float
    ) -> SendOutcome:
        """Fetch the files of an email as far as they fit in memory, and send it."""
        size = bytes_of_files(mail)
        if size and self._file_bytes and self._file_bytes + size > MAX_FILE_BYTES:
            waiting = _unsent(mail.claim, Ending.DEFER, "waits for other mail with files")
            return waiting._replace(wait=MEMORY_WAIT)
        self._file_bytes += size
        try:
            (complete,) = await self._files.fetched([mail])
            return await send_marked(
                complete,
                self._tools.transport_of(server),
                hidden=server.hidden,
                end=end,
                is_tried_again=True,
            )
        finally:
            self._file_bytes -= size

    async def _read_files(self, refs: Sequence[FileRef]) -> dict[UUID, bytes | FileFault]:
        ids, days = [ref.id for ref in refs], sorted({ref.on for ref in refs})
        stored = await self._link.call(
            lambda conn: claims_store.read_attachments(conn, ids, days=days)
        )
        return await read_stored(stored, self._tools.storage)


def _unsent(email: ClaimedEmail, ending: Ending, reason: str) -> SendOutcome:
    return SendOutcome(email.id, email.claim_no, ending, reason=reason)
