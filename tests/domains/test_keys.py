"""DKIM keys of a domain: created, activated, rotated, revoked."""

import re
from datetime import timedelta

import pytest

from mailqueue.contract.domains import DkimKeyStatus
from mailqueue.core.errors import ConfigError, Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.dkim.keys import Algorithm
from mailqueue.domains import keys
from mailqueue.domains.model import DkimKey
from mailqueue.domains.signing import signers_of
from mailqueue.vault.masterkey import MasterKey
from tests import make
from tests.dkim.signing import MESSAGE, verdicts

pytestmark = pytest.mark.anyio

MASTER = MasterKey(bytes(range(32)))
ED, RSA = Algorithm.ED25519, Algorithm.RSA


async def created(conn: Conn, *algorithms: Algorithm, domain: str = "example.com") -> list[DkimKey]:
    return await keys.create(
        conn, "default", domain=domain, algorithms=algorithms or (ED,), master=MASTER, by="me"
    )


async def in_force(conn: Conn, found: list[DkimKey]) -> None:
    await keys.activate(conn, found, by="me", seen=True)


async def statuses(conn: Conn, domain: str = "example.com") -> list[DkimKeyStatus]:
    return [key.status for key in await keys.list_keys(conn, project="default", domain=domain)]


async def signature(conn: Conn, domain: str = "example.com") -> bytes:
    """Return the signature headers of a mail of the default project."""
    project = await make.project_named(conn)
    signer = (await signers_of(conn, project, read_master=lambda: MASTER)).of(domain)
    return b"" if signer is None else signer.sign(MESSAGE, 1)


async def revisions(conn: Conn) -> list[int]:
    found = await make.rows(conn, "SELECT revision FROM mailqueue.sender_accounts ORDER BY id")
    return [row[0] for row in found]


async def test_a_new_key_signs_nothing_until_it_is_put_in_force(conn: Conn) -> None:
    found = await created(conn, RSA, ED)

    assert await statuses(conn) == [DkimKeyStatus.PENDING, DkimKeyStatus.PENDING]
    assert await signature(conn) == b""

    await in_force(conn, found)

    assert await statuses(conn) == [DkimKeyStatus.ACTIVE, DkimKeyStatus.ACTIVE]
    dns = {key.name: key.text for key in found}
    signed = await signature(conn) + MESSAGE
    assert verdicts(signed, lambda name, **_: dns[name.decode().rstrip(".")].encode()) == [
        True,
        True,
    ]
    assert signed.index(b"a=rsa-sha256") < signed.index(b"a=ed25519-sha256")


async def test_the_private_key_lies_sealed(conn: Conn) -> None:
    (key,) = await created(conn)

    sealed = await make.scalar(conn, "SELECT private_key FROM mailqueue.dkim_keys")

    assert sealed[:1] == b"\x01"
    assert len(sealed) == 1 + 16 + 12 + 48 + 16
    assert "private" not in repr(key)


async def test_a_key_of_another_row_does_not_open(conn: Conn) -> None:
    first, second = await created(conn), await created(conn, domain="example.org")
    await in_force(conn, first + second)
    await conn.execute(
        "UPDATE mailqueue.dkim_keys AS k SET private_key = o.private_key"
        " FROM mailqueue.dkim_keys AS o WHERE o.id <> k.id"
    )

    with pytest.raises(Exception, match="cannot be opened"):
        await signature(conn)


async def test_a_domain_is_kept_in_a_label_form(conn: Conn) -> None:
    (key,) = await created(conn, domain="BÜCHER.example.")

    assert key.domain == "xn--bcher-kva.example"
    with pytest.raises(InvalidField, match="not the domain of an address"):
        await created(conn, domain="no domain")


async def test_selectors_are_made_anew_and_can_be_chosen(conn: Conn) -> None:
    (first,) = await created(conn)
    await keys.revoke(conn, "default", domain="example.com", selector=first.selector, by="me")
    (second,) = await created(conn)
    (third,) = await keys.create(
        conn,
        "default",
        domain="example.com",
        algorithms=[RSA],
        selector="mine",
        master=MASTER,
        by="me",
    )

    assert re.fullmatch(r"mq\d{8}-ed25519", first.selector)
    assert second.selector == f"{first.selector}-2"
    assert third.name == "mine._domainkey.example.com"


@pytest.mark.parametrize("selector", ["", "-a", "a-", "A", "a_b", "a.b", "ä", "x" * 64])
async def test_a_selector_that_is_no_label_is_refused(conn: Conn, selector: str) -> None:
    with pytest.raises(InvalidField, match="selector"):
        await keys.create(
            conn,
            "default",
            domain="example.com",
            algorithms=[ED],
            selector=selector,
            master=MASTER,
            by="me",
        )


async def test_a_second_key_of_a_kind_is_made_by_rotating(conn: Conn) -> None:
    found = await created(conn)
    with pytest.raises(Conflict, match=r"dkim rotate example\.com"):
        await created(conn)
    await in_force(conn, found)

    with pytest.raises(Conflict, match=r"dkim rotate example\.com"):
        await created(conn)


async def test_after_a_rotation_the_old_key_signs_until_the_new_one_is_in_force(conn: Conn) -> None:
    """The old record stays in DNS for mail that is on its way."""
    old = await created(conn)
    await in_force(conn, old)

    new = await keys.rotate(conn, "default", domain="example.com", master=MASTER, by="me")

    assert f"s={old[0].selector};".encode() in await signature(conn)
    with pytest.raises(Conflict, match="waits for its record"):
        await keys.rotate(conn, "default", domain="example.com", master=MASTER, by="me")

    await keys.activate(conn, new, keep=timedelta(days=3), by="me", seen=False)

    assert f"s={new[0].selector};".encode() in await signature(conn)
    assert (await signature(conn)).count(b"DKIM-Signature") == 1
    retired, active = await keys.list_keys(conn, project="default", domain="example.com")
    assert (retired.status, active.status) == (DkimKeyStatus.RETIRED, DkimKeyStatus.ACTIVE)
    assert retired.retired_at is not None
    assert retired.needed_until is not None
    kept = retired.needed_until - retired.retired_at
    assert abs(kept - timedelta(days=3)) < timedelta(seconds=1)


async def test_a_rotation_needs_something_that_signs(conn: Conn) -> None:
    await created(conn)
    with pytest.raises(Conflict, match="waits for its record"):
        await keys.rotate(conn, "default", domain="example.com", master=MASTER, by="me")
    with pytest.raises(NotFound, match=r"of example\.org in project default"):
        await keys.rotate(conn, "default", domain="example.org", master=MASTER, by="me")


async def test_a_revoked_key_is_destroyed_and_never_signs_again(conn: Conn) -> None:
    found = await created(conn)
    await in_force(conn, found)

    revoked = await keys.revoke(
        conn, "default", domain="example.com", selector=found[0].selector, by="me"
    )

    assert revoked.status is DkimKeyStatus.REVOKED
    assert revoked.text == "v=DKIM1; k=ed25519; p="
    assert await make.scalar(conn, "SELECT private_key FROM mailqueue.dkim_keys") is None
    await in_force(conn, [revoked])
    assert await statuses(conn) == [DkimKeyStatus.REVOKED]
    assert await signature(conn) == b""


async def test_what_does_not_exist_is_named(conn: Conn) -> None:
    with pytest.raises(NotFound, match="project nowhere"):
        await keys.list_keys(conn, project="nowhere")
    with pytest.raises(NotFound, match=r"`mailqueue dkim add example\.org`"):
        await keys.list_keys(conn, project="default", domain="example.org")
    with pytest.raises(NotFound, match="DKIM key nothing of"):
        await keys.revoke(conn, "default", domain="example.org", selector="nothing", by="me")


async def test_without_a_master_key_no_key_is_made_or_used(conn: Conn) -> None:
    with pytest.raises(ConfigError, match="no master key"):
        await keys.create(
            conn, "default", domain="example.com", algorithms=[ED], master=None, by="me"
        )
    await in_force(conn, await created(conn))
    project = await make.project_named(conn)
    with pytest.raises(ConfigError, match="no master key"):
        await signers_of(conn, project, read_master=lambda: None)


async def test_a_project_without_keys_needs_no_master_key(conn: Conn) -> None:
    def never() -> MasterKey | None:
        raise AssertionError("nobody asked for it")

    signers = await signers_of(conn, await make.project_named(conn), read_master=never)

    assert signers.of("example.com") is None
    assert not signers.is_required


async def test_workers_hear_of_every_change_of_who_signs(conn: Conn) -> None:
    """Account senders reread an account when its revision has changed."""
    await make.sender_account(conn)
    elsewhere = await make.sender_account(conn, project_id=await make.project(conn))
    before = await revisions(conn)

    found = await created(conn)
    assert await revisions(conn) == before
    await in_force(conn, found)
    after_activation = await revisions(conn)
    await keys.revoke(conn, "default", domain="example.com", selector=found[0].selector, by="me")
    after_revocation = await revisions(conn)
    await keys.require(conn, "default", is_required=True, by="me")
    after_requirement = await revisions(conn)

    risen = [before, after_activation, after_revocation, after_requirement]
    assert [each[0] for each in risen] == sorted({each[0] for each in risen})
    assert (
        await make.scalar(
            conn, "SELECT revision FROM mailqueue.sender_accounts WHERE id = %s", elsewhere
        )
        == 1
    )


async def test_a_project_can_require_signatures(conn: Conn) -> None:
    await keys.require(conn, "default", is_required=True, by="me")
    signers = await signers_of(conn, await make.project_named(conn), read_master=lambda: None)

    assert signers.is_required
    assert not (await keys.require(conn, "default", is_required=False, by="me")).is_dkim_required


async def test_changes_are_written_down(conn: Conn) -> None:
    found = await created(conn)
    await in_force(conn, found)
    await keys.revoke(conn, "default", domain="example.com", selector=found[0].selector, by="me")

    noted = await make.rows(
        conn,
        "SELECT action, actor, subject FROM mailqueue.audit_events"
        " WHERE action LIKE 'dkim%' ORDER BY id",
    )

    assert noted == [
        ("dkim.created", "me", found[0].name),
        ("dkim.activated", "me", found[0].name),
        ("dkim.revoked", "me", found[0].name),
    ]
