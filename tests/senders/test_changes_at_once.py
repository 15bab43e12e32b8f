"""Two changes of what belongs to a sender account at the same time: each keeps the other's."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.events.rates.thresholds import ThresholdsChange, rates_of, set_thresholds
from mailqueue.inbound import endpoints
from mailqueue.inbound.endpoints import NO_CHANGE, SecretsChange
from mailqueue.senders import accounts
from mailqueue.senders.model import SenderAccount
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault.masterkey import MasterKey
from tests import make
from tests.mail.claim.steps import opened, until_waiting

pytestmark = [pytest.mark.anyio, pytest.mark.deep]
MASTER = MasterKey(bytes(range(32)))
URL = "https://example.com"

Change = Callable[[Conn], Awaitable[Any]]


def secrets_of(
    account: SenderAccount, change: SecretsChange, *, is_rotated: bool = False
) -> Change:
    async def change_by(conn: Conn) -> Any:
        return await endpoints.put(
            conn,
            account,
            provider="sendgrid",
            change=change,
            is_rotated=is_rotated,
            master=MASTER,
            base_url=URL,
            by="test",
        )

    return change_by


def thresholds_of(account: SenderAccount, **named: float) -> Change:
    async def change_by(conn: Conn) -> Any:
        return await set_thresholds(conn, account, change=ThresholdsChange(**named), by="test")

    return change_by


async def at_once(watching: Conn, one: Conn, other: Conn, changes: tuple[Change, Change]) -> None:
    """Begin the second change while the first is not committed; return when both are."""
    async with one.transaction():
        await changes[0](one)
        late = asyncio.ensure_future(changes[1](other))
        await until_waiting(watching, other)
    await late


async def sender(conn: Conn) -> SenderAccount:
    await make.sender_account(conn, name="relay")
    return await accounts.find(conn, "default", name="relay")


async def test_a_url_that_was_rotated_is_not_undone_by_a_change_of_secrets(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 3) as (watching, one, other):
        account = await sender(watching)
        first = await secrets_of(account, NO_CHANGE)(watching)
        await at_once(
            *(watching, one, other),
            (
                secrets_of(account, NO_CHANGE, is_rotated=True),
                secrets_of(account, SecretsChange(user="ann")),
            ),
        )

        found = await endpoints.show(
            watching, account, provider="sendgrid", master=MASTER, base_url=URL
        )

    assert found.url != first.url


async def test_an_endpoint_that_two_create_at_once_can_be_read(database: DatabaseSettings) -> None:
    async with opened(database, 3) as (watching, one, other):
        account = await sender(watching)
        await at_once(
            *(watching, one, other),
            (secrets_of(account, NO_CHANGE), secrets_of(account, SecretsChange(user="ann"))),
        )

        found = await endpoints.show(
            watching, account, provider="sendgrid", master=MASTER, base_url=URL
        )

    assert found.url.startswith(URL)


async def test_a_threshold_is_kept_that_another_session_changes_meanwhile(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 3) as (watching, one, other):
        account = await sender(watching)
        await at_once(
            *(watching, one, other),
            (thresholds_of(account, bounce_pause=20), thresholds_of(account, complaint_pause=9)),
        )

        rates = await rates_of(watching, account)

    assert (rates.bounce_pause, rates.complaint_pause) == (20, 9)


async def test_the_threshold_that_warns_is_compared_with_one_that_changes_meanwhile(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 3) as (watching, one, other):
        account = await sender(watching)
        await thresholds_of(account, bounce_warn=1, bounce_pause=50)(watching)
        with pytest.raises(InvalidField, match="at most bounce_pause"):
            await at_once(
                *(watching, one, other),
                (thresholds_of(account, bounce_pause=5), thresholds_of(account, bounce_warn=9)),
            )


@pytest.mark.parametrize("wanted", [thresholds_of, secrets_of])
async def test_a_change_of_an_account_that_is_gone_is_refused(conn: Conn, wanted: Any) -> None:
    account = await sender(conn)
    await conn.execute("DELETE FROM mailqueue.sender_accounts WHERE id = %s", (account.id,))
    change = wanted(account) if wanted is thresholds_of else wanted(account, NO_CHANGE)
    with pytest.raises(NotFound):
        await change(conn)
