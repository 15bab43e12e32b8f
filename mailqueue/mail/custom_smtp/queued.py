"""Queued emails with a custom SMTP server: accepted together with the server, which is sealed."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

import orjson

from mailqueue.core.errors import Conflict
from mailqueue.core.json.writing import write_json
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.acceptance import AcceptedBatch, check_storable, results_of
from mailqueue.mail.accept.batches import check_size
from mailqueue.mail.accept.enqueue import NewEmail, message_of, unstorable
from mailqueue.mail.custom_smtp import store as custom_smtp_store
from mailqueue.mail.custom_smtp.send_now import SentNow
from mailqueue.mail.model import NewBatch
from mailqueue.projects.model import Caller
from mailqueue.senders.custom_smtp import CustomSmtpServer
from mailqueue.senders.model import Tls
from mailqueue.vault import vault
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.sealing import SealedCell


async def queue_for(
    conn: Conn,
    email: NewEmail,
    server: CustomSmtpServer,
    *,
    caller: Caller,
    master: MasterKey | None,
) -> SentNow:
    """Accept one email with the server that sends it, its credentials sealed.

    Call it in a transaction: email and server commit together.

    Raises:
        InvalidField: nothing is stored.
        Conflict: there is no master key to seal with.
        Locked: the project's own key is locked.
    """
    fault = unstorable(email)
    if fault is not None:
        raise fault
    master = _needed(master)
    server_id = uuid4()
    place = _cell(caller.project_id, server_id)
    sealed = await vault.seal(conn, master, place=place, plaintext=_written(server))
    found = await custom_smtp_store.queue(
        conn, caller.project, message_of(email), server_id=server_id, sealed=sealed
    )
    return SentNow(found.id, found.state, found.reason)


async def queue_batch_for(
    conn: Conn,
    batch: NewBatch,
    server: CustomSmtpServer,
    *,
    caller: Caller,
    master: MasterKey | None,
    is_strict: bool,
    by: str,
) -> AcceptedBatch:
    """Accept one content for many recipients with the server that sends each email.

    Its credentials are sealed for each email. Call it in a transaction.

    Raises:
        InvalidField: content or options are refused; nothing is stored.
        RecipientsRefused: the batch is strict, and recipients are refused; nothing is stored.
        Conflict: there is no master key to seal with.
        Locked: the project's own key is locked.
    """
    check_storable(batch)
    check_size(batch)
    ids = [uuid4() for _ in batch.recipients]
    places = [_cell(caller.project_id, one) for one in ids]
    sealed = await vault.seal_many(conn, _needed(master), places=places, plaintext=_written(server))
    servers = dict(zip(ids, sealed, strict=True))
    rows = await custom_smtp_store.queue_shared(
        conn, caller.project, batch, is_strict=is_strict, by=by, servers=servers
    )
    return results_of(rows)


async def open_server(
    conn: Conn, master: MasterKey, *, project_id: UUID, server_id: UUID, sealed: bytes
) -> CustomSmtpServer:
    """Return the server that was sealed with an email.

    Raises:
        Locked: the project's own key is locked.
        SealBroken: the master key or the row is another one.
        ValueError: what was sealed is no server.
    """
    place = _cell(project_id, server_id)
    return _read(await vault.open_sealed(conn, master, place=place, sealed=sealed))


def _needed(master: MasterKey | None) -> MasterKey:
    if master is None:
        raise Conflict("no server is kept here: there is no master key to seal it with")
    return master


def _cell(project_id: UUID, server_id: UUID) -> SealedCell:
    return SealedCell(project_id, "custom_smtp_servers", "sealed", server_id)


def _written(server: CustomSmtpServer) -> bytes:
    return write_json(
        {
            "host": server.host,
            "port": server.port,
            "tls": server.tls,
            "username": server.username.reveal(),
            "password": server.password.reveal(),
        }
    )


def _read(document: bytes) -> CustomSmtpServer:
    found: Mapping[str, Any] = orjson.loads(document)
    try:
        return CustomSmtpServer(
            host=found["host"],
            port=found["port"],
            tls=Tls(found["tls"]),
            username=Secret(found["username"]),
            password=Secret(found["password"]),
        )
    except (KeyError, TypeError) as exc:
        raise ValueError(f"no server: {type(exc).__name__}") from None
