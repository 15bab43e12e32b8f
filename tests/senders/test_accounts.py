"""Sender accounts as rows: what is stored, and what claims read."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mailqueue.core.errors import ConfigError, Conflict, InvalidField, NotFound, SealBroken
from mailqueue.core.providers import Provider
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.senders import accounts
from mailqueue.senders.model import (
    Limits,
    LimitsChange,
    NewSender,
    SenderAccount,
    SenderStatus,
    Tls,
)
from mailqueue.senders.store import accounts as accounts_store
from mailqueue.vault.masterkey import MasterKey

pytestmark = pytest.mark.anyio

MASTER = MasterKey(bytes(range(32)))
RELAY = NewSender(name="relay", host="relay.example.com")
WITH_PASSWORD = replace(RELAY, username="ann", password=Secret("hunter2"))


async def added(conn: Conn, new: NewSender = RELAY) -> SenderAccount:
    return await accounts.add(conn, new, project="default", master=MASTER)


async def limit_row(conn: Conn, account: SenderAccount) -> tuple[object, ...] | None:
    cursor = await conn.execute(
        "SELECT daily_limit, batch_size, blocked_reason, blocked_until"
        " FROM mailqueue.limits WHERE sender_account_id = %s",
        (account.id,),
    )
    return await cursor.fetchone()


async def test_an_added_account_is_stored_as_asked(conn: Conn) -> None:
    limits = Limits(
        daily_limit=1000, rate_per_second=2.5, burst=9, batch_size=50, send_delay_ms=100,
        max_connections=2, time_zone="Europe/Berlin", warm_up=(20, 100),
    )  # fmt: skip
    new = replace(
        RELAY,
        email="ann@example.com",
        display_name="Ann",
        tls=Tls.IMPLICIT,
        is_private_ok=True,
        priority=7,
        limits=limits,
        notes="for tests",
    )

    account = await added(conn, new)

    assert account == await accounts.find(conn, "default", name="relay")
    assert account == await accounts_store.find_by_id(conn, account.id)
    assert account.limits == limits
    assert (account.provider, account.smtp_tls) == (Provider.SMTP, Tls.IMPLICIT)
    assert account.status is SenderStatus.ACTIVE
    assert (account.smtp_host, account.smtp_port) == ("relay.example.com", 465)
    assert (account.email, account.display_name) == ("ann@example.com", "Ann")
    assert (account.is_private_ok, account.priority, account.notes) == (True, 7, "for tests")
    assert account.smtp_password is None
    assert account.project == "default"


async def test_a_password_is_stored_sealed_and_opens_with_the_master_key(conn: Conn) -> None:
    account = await added(conn, WITH_PASSWORD)

    assert account.smtp_password is not None
    assert b"hunter2" not in account.smtp_password
    assert await accounts.password_of(conn, account, master=MASTER) == Secret("hunter2")


async def test_no_text_of_a_row_or_a_request_shows_the_password(conn: Conn) -> None:
    account = await added(conn, WITH_PASSWORD)

    assert "hunter2" not in repr(WITH_PASSWORD)
    assert repr(account.smtp_password) not in repr(account)


async def test_a_password_needs_a_master_key_and_nothing_is_stored_without(conn: Conn) -> None:
    with pytest.raises(ConfigError, match="MAILQUEUE_MASTER_KEY"):
        await accounts.add(conn, WITH_PASSWORD, project="default", master=None)

    assert await accounts_store.find(conn, "default", name="relay") is None


async def test_an_account_without_a_password_needs_no_master_key(conn: Conn) -> None:
    account = await accounts.add(conn, RELAY, project="default", master=None)

    assert await accounts.password_of(conn, account, master=None) is None


async def test_a_sealed_password_is_not_opened_for_another_account(conn: Conn) -> None:
    account = await added(conn, WITH_PASSWORD)
    other = await added(conn, replace(RELAY, name="other"))
    moved = replace(other, smtp_password=account.smtp_password)

    with pytest.raises(SealBroken):
        await accounts.password_of(conn, moved, master=MASTER)


async def test_opening_a_password_without_a_master_key_says_what_to_set(conn: Conn) -> None:
    account = await added(conn, WITH_PASSWORD)

    with pytest.raises(ConfigError, match=r"relay has an encrypted password.*MAILQUEUE_MASTER_KEY"):
        await accounts.password_of(conn, account, master=None)


async def test_a_name_is_taken_once_in_a_project(conn: Conn) -> None:
    await added(conn)

    with pytest.raises(Conflict, match="relay"):
        await added(conn)


async def test_an_unknown_project_is_named(conn: Conn) -> None:
    with pytest.raises(NotFound, match="no project nowhere"):
        await accounts.add(conn, RELAY, project="nowhere", master=None)
    with pytest.raises(NotFound, match="no project nowhere"):
        await accounts.find(conn, "nowhere", name="relay")
    with pytest.raises(NotFound, match="no project nowhere"):
        await accounts.list_all(conn, project="nowhere")


async def test_an_unknown_account_is_named_with_its_project(conn: Conn) -> None:
    with pytest.raises(NotFound, match="no sender account relay in project default"):
        await accounts.resume(conn, "default", name="relay")


async def test_an_unknown_time_zone_is_refused(conn: Conn) -> None:
    with pytest.raises(InvalidField, match=r"time_zone.*'Mars/Base'"):
        await added(conn, replace(RELAY, limits=Limits(time_zone="Mars/Base")))


async def test_accounts_are_listed_in_the_order_they_are_tried(conn: Conn) -> None:
    for name, priority in (("b", 100), ("a", 200), ("c", 1)):
        await added(conn, replace(RELAY, name=name, priority=priority))

    listed = await accounts.list_all(conn, project="default")
    names = [account.name for account in listed if account.name in "abc"]

    assert names == ["c", "b", "a"]
    assert listed == await accounts.list_all(conn)


async def test_claims_see_the_limits_of_a_new_account(conn: Conn) -> None:
    account = await added(conn, replace(RELAY, limits=Limits(daily_limit=10, batch_size=5)))

    assert await limit_row(conn, account) == (10, 5, None, None)


async def test_a_paused_account_is_blocked_for_claims_until_it_is_resumed(conn: Conn) -> None:
    account = await added(conn)

    paused = await accounts.pause(conn, "default", name="relay", reason="moving", until=None)

    assert (paused.status, paused.status_reason) == (SenderStatus.PAUSED, "moving")
    assert await limit_row(conn, account) == (None, 200, "paused", None)

    resumed = await accounts.resume(conn, "default", name="relay")

    assert (resumed.status, resumed.status_reason) == (SenderStatus.ACTIVE, None)
    assert resumed.status_until is None
    assert await limit_row(conn, account) == (None, 200, None, None)


async def test_a_pause_may_end_at_an_instant_or_after_a_while(conn: Conn) -> None:
    instant = datetime.now(UTC) + timedelta(days=3_000)
    await added(conn)

    until = await accounts.pause(conn, "default", name="relay", reason=None, until=instant)
    cursor = await conn.execute("SELECT clock_timestamp()")
    row = await cursor.fetchone()
    assert row is not None
    wait = timedelta(hours=2)
    for_a_while = await accounts.pause(conn, "default", name="relay", reason=None, until=wait)

    assert until.status_until == instant
    assert for_a_while.status_until is not None
    assert wait <= for_a_while.status_until - row[0] < wait + timedelta(minutes=1)


async def test_limits_change_and_the_others_stay(conn: Conn) -> None:
    account = await added(conn, replace(RELAY, limits=Limits(daily_limit=10, burst=3)))

    changed = await accounts.set_limits(
        conn, "default", name="relay", change=LimitsChange(daily_limit=None, rate_per_second=0.5)
    )

    assert changed.limits == Limits(daily_limit=None, rate_per_second=0.5, burst=3)
    assert await limit_row(conn, account) == (None, 200, None, None)


async def test_a_faulty_limit_changes_nothing(conn: Conn) -> None:
    account = await added(conn)

    with pytest.raises(InvalidField, match="daily_limit: must be at least 1, got -1"):
        await accounts.set_limits(
            conn, "default", name="relay", change=LimitsChange(daily_limit=-1, burst=1)
        )

    assert await accounts.find(conn, "default", name="relay") == account


async def test_each_change_raises_the_revision_that_workers_watch(conn: Conn) -> None:
    account = await added(conn)

    paused = await accounts.pause(conn, "default", name="relay", reason=None, until=None)
    limited = await accounts.set_limits(conn, "default", name="relay", change=LimitsChange(burst=1))

    assert account.revision < paused.revision < limited.revision


async def test_a_trap_account_has_no_server(conn: Conn) -> None:
    account = await added(conn, NewSender(name="pit", provider=Provider.TRAP))

    assert account.provider is Provider.TRAP
    assert account.smtp_host is None
