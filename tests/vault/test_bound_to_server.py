"""A sealed password is opened only for the server that it was given for."""

import pytest

from mailqueue.core.errors import SealBroken
from mailqueue.core.providers import Provider
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.senders import accounts
from mailqueue.senders.model import NewSender, SenderAccount
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault import rotation, vault
from mailqueue.vault.masterkey import MasterKey, parse_master_key
from mailqueue.vault.sealing import SealedCell
from tests import make
from tests.api.support.wired import MASTER

pytestmark = pytest.mark.anyio
WORD = "correct horse battery staple"


def master() -> MasterKey:
    return parse_master_key(MASTER, source="tests")


async def relay(conn: Conn, **fields: object) -> SenderAccount:
    new = NewSender("relay", host="smtp.example.com", username="ann", password=Secret(WORD))
    for name, value in fields.items():
        object.__setattr__(new, name, value)
    return await accounts.add(conn, new, project="default", master=master())


async def opened(conn: Conn) -> str | None:
    account = await accounts.find(conn, "default", name="relay")
    password = await accounts.password_of(conn, account, master=master())
    return None if password is None else password.reveal()


@pytest.mark.parametrize(
    ("change", "back"),
    [
        ("smtp_host = 'smtp.evil.example'", "smtp_host = 'SMTP.example.com'"),
        (
            "provider_settings = jsonb_build_object('token_url', 'https://evil.example')",
            "provider_settings = NULL",
        ),
    ],
)
async def test_a_password_does_not_open_for_another_server(
    conn: Conn, change: str, back: str
) -> None:
    await relay(conn)
    update = "UPDATE mailqueue.sender_accounts SET {} WHERE name = 'relay'"

    await conn.execute(update.format(change).encode())
    with pytest.raises(SealBroken, match="its server was: give the secret again"):
        await opened(conn)
    await conn.execute(update.format(back).encode())
    assert await opened(conn) == WORD


async def test_a_key_does_not_open_for_another_provider_or_address(conn: Conn) -> None:
    await relay(conn, provider=Provider.SENDGRID, host=None, username=None)
    assert await opened(conn) == WORD

    for change in (
        "provider = 'resend'",
        "provider = 'sendgrid', api_url = 'https://evil.example'",
    ):
        await conn.execute(f"UPDATE mailqueue.sender_accounts SET {change}".encode())
        with pytest.raises(SealBroken):
            await opened(conn)


async def test_the_port_may_change(conn: Conn) -> None:
    await relay(conn)

    await conn.execute(b"UPDATE mailqueue.sender_accounts SET smtp_port = 2525")

    assert await opened(conn) == WORD


async def test_a_password_of_an_earlier_version_is_bound_by_rotation(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        account = await relay(conn)
        place = SealedCell(account.project_id, *accounts.PASSWORD_COLUMN, account.id)
        unbound = await vault.seal(conn, master(), place=place, plaintext=WORD.encode())
        await make.rows(
            conn,
            "UPDATE mailqueue.sender_accounts SET smtp_password = %s WHERE id = %s RETURNING 1",
            unbound,
            account.id,
        )
        assert await opened(conn) == WORD

        for _ in range(2):
            done = await rotation.rotate(conn, master(), is_forced=True, by="tests")
            assert (done.resealed, done.damaged) == (1, ())

        assert await opened(conn) == WORD
        await conn.execute(b"UPDATE mailqueue.sender_accounts SET smtp_host = 'evil.example'")
        with pytest.raises(SealBroken):
            await opened(conn)
