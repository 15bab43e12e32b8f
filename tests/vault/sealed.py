"""Secrets of projects: accounts with passwords and DKIM keys, encrypted by the product."""

from dataclasses import dataclass, field
from uuid import UUID

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.dkim.keys import Algorithm
from mailqueue.domains import keys
from mailqueue.domains.signing import signers_of
from mailqueue.senders import accounts, identity
from mailqueue.senders.model import NewSender
from mailqueue.vault.masterkey import MasterKey
from tests import make

FIRST = MasterKey(bytes(range(32)))
SECOND = MasterKey(bytes(range(1, 33)), previous=FIRST)


@dataclass
class Secrets:
    """The encrypted secrets of a project."""

    project_id: UUID
    name: str
    passwords: dict[int, str] = field(default_factory=dict)  # by sender account

    async def are_readable(self, conn: Conn, master: MasterKey) -> bool:
        """Open all secrets as workers do; return False if one has changed."""
        for account_id, password in self.passwords.items():
            account = await identity.get(conn, account_id)
            opened = await accounts.password_of(conn, account, master=master)
            if opened is None or opened.reveal() != password:
                return False
        signers = await signers_of(conn, self.project_id, read_master=lambda: master)
        return signers.of(f"{self.name}.example") is not None


async def secrets(
    conn: Conn, name: str, *, master: MasterKey = FIRST, passwords: int = 2
) -> Secrets:
    """Create a project with encrypted passwords and an active DKIM key."""
    made = Secrets(await make.project(conn, name), name)
    for number in range(passwords):
        new = NewSender(
            name=f"s{number}",
            host="127.0.0.1",
            port=25,
            username="ann",
            password=Secret(f"{name} {number}"),
            is_private_ok=True,
        )
        account = await accounts.add(conn, new, project=name, master=master)
        made.passwords[account.id] = f"{name} {number}"
    found = await keys.create(
        conn,
        name,
        domain=f"{name}.example",
        algorithms=[Algorithm.ED25519],
        master=master,
        by="me",
    )
    await keys.activate(conn, found, by="me", seen=True)
    return made


async def data_keys(conn: Conn, project_id: UUID) -> list[tuple[str, str, str]]:
    """Return (state, wrapped_by, master_key_id) of a project's data keys, oldest first."""
    return await make.rows(
        conn,
        "SELECT state, wrapped_by, master_key_id FROM mailqueue.data_keys"
        " WHERE project_id = %s ORDER BY created_at, state DESC",
        project_id,
    )
