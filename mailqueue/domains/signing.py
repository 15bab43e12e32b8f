"""Loads the DKIM signers of a project: its domains with their active keys."""

from collections.abc import Callable
from uuid import UUID

from mailqueue.core.errors import ConfigError
from mailqueue.db.fetch import Conn
from mailqueue.dkim.keys import Algorithm, SigningKey, load_private_key
from mailqueue.dkim.signer import DomainSigner, Signers
from mailqueue.domains import store
from mailqueue.vault import vault
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.sealing import SealedCell


async def signers_of(
    conn: Conn, project_id: UUID, *, read_master: Callable[[], MasterKey | None]
) -> Signers:
    """Load the active keys of a project; the master key is read if there are any.

    Raises:
        SealBroken: a key cannot be opened.
        ConfigError: there is no master key to open it with.
    """
    keys: dict[str, list[SigningKey]] = {}
    rows = await store.list_active(conn, project_id)
    master = read_master() if rows else None
    for row in rows:
        if master is None:
            raise ConfigError(
                f"mail of {row.domain} must be signed with a sealed key, and there is no master "
                "key: set MAILQUEUE_MASTER_KEY"
            )
        place = SealedCell(project_id, "dkim_keys", "private_key", row.id)
        private = await vault.open_sealed(conn, master, place=place, sealed=row.private_key)
        key = SigningKey(
            row.domain, row.selector, Algorithm(row.algorithm), load_private_key(private)
        )
        keys.setdefault(row.domain, []).append(key)
    return Signers(
        {domain: DomainSigner(each) for domain, each in keys.items()},
        is_required=await store.is_required(conn, project_id),
    )
