"""Passwords of inboxes and tokens of channels: sealed, and opened by workers."""

from uuid import UUID

from mailqueue.core.errors import ConfigError, Conflict
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.vault import vault
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.sealing import SealedCell


def password_cell(project_id: UUID, inbox_id: UUID, host: str, port: int) -> SealedCell:
    """Return the place of an inbox's password, which is bound to its server."""
    return SealedCell(project_id, "mailboxes", "sealed_password", inbox_id, f"{host}:{port}")


def token_cell(project_id: UUID, channel_id: UUID) -> SealedCell:
    """Return the place of a channel's token."""
    return SealedCell(project_id, "notification_channels", "sealed_token", channel_id)


def signing_cell(project_id: UUID, channel_id: UUID) -> SealedCell:
    """Return the place of the signing secret of a channel's app."""
    return SealedCell(project_id, "notification_channels", "sealed_signing_secret", channel_id)


async def sealed(
    conn: Conn, place: SealedCell, secret: Secret, *, master: MasterKey | None
) -> bytes:
    """Return a sealed secret.

    Raises:
        Conflict: there is no master key to seal with.
        Locked: no access to the project's own key is granted.
    """
    if master is None:
        raise Conflict(
            "passwords and tokens are sealed, and there is no master key: "
            "set MAILQUEUE_MASTER_KEY, or run `mailqueue up`, which makes one"
        )
    return await vault.seal(conn, master, place=place, plaintext=secret.reveal().encode())


async def opened(
    conn: Conn, place: SealedCell, value: bytes, *, master: MasterKey | None
) -> Secret:
    """Return an opened secret.

    Raises:
        ConfigError: there is no master key to open with.
        Locked: no access to the project's own key is granted.
        SealBroken: it cannot be opened.
    """
    if master is None:
        raise ConfigError(
            "the secret is sealed, and there is no master key: set MAILQUEUE_MASTER_KEY"
        )
    octets = await vault.open_sealed(conn, master, place=place, sealed=value)
    return Secret(octets.decode())
