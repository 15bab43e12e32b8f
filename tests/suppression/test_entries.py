"""Suppressions are added, found and removed."""

import hashlib
import hmac
from datetime import UTC, datetime, timedelta

import pytest

from mailqueue.contract.suppression import SuppressionOutcome, SuppressionReason
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.core.paging import key_of
from mailqueue.db.fetch import Conn
from mailqueue.suppression import entries
from mailqueue.suppression.acceptable import new_suppression
from mailqueue.suppression.model import NewSuppression
from tests import make
from tests.suppression.listing import ANN, added, audits

pytestmark = pytest.mark.anyio

BOUNCE = "SELECT mailqueue.record_bounce(%s, %s, %s, 'said no', '5.1.1', NULL, NULL)"


async def bounced(conn: Conn, address: str = ANN, kind: str = "hard") -> None:
    await conn.execute(BOUNCE, (await make.project_named(conn), address, kind))


async def is_written_to(conn: Conn, address: str, category: str = "transactional") -> bool:
    email = await make.queued_email(conn, recipient_email=address, category=category)
    found = await make.scalar(conn, "SELECT status FROM mailqueue.emails WHERE id = %s", email)
    assert found in ("pending", "suppressed")
    return bool(found == "pending")


async def test_an_added_address_is_written_to_no_more(conn: Conn) -> None:
    assert await added(conn, "Ann@Example.com", "bob@example.com") == [SuppressionOutcome.ADDED] * 2

    assert not await is_written_to(conn, "ANN@example.com")
    assert await added(conn, ANN) == [SuppressionOutcome.THERE_ALREADY]
    ((actor, subject, detail),) = await audits(conn, "suppressions.added")
    assert (actor, subject, detail) == ("tests", "project default", {"added": 2, "renewed": 0})


async def test_a_category_stops_its_mail_only(conn: Conn) -> None:
    await added(conn, ANN, category="marketing")

    assert await is_written_to(conn, ANN)
    assert not await is_written_to(conn, ANN, "marketing")
    assert not (await entries.check(conn, "default", email=ANN)).suppressed
    found = await entries.check(conn, "default", email=ANN, category="marketing")
    assert (found.suppressed, found.reason) == (True, SuppressionReason.MANUAL)


async def test_what_lasts_longer_stays(conn: Conn) -> None:
    soon, later = (datetime.now(UTC) + timedelta(days=days) for days in (1, 2))

    assert await added(conn, ANN, expires_at=later.isoformat()) == [SuppressionOutcome.ADDED]
    assert await added(conn, ANN, expires_at=soon.isoformat()) == [SuppressionOutcome.THERE_ALREADY]
    await bounced(conn)

    (found,) = (await entries.check(conn, "default", email=ANN)).suppressions
    assert (found.reason, found.expires_at, found.detail) == (
        SuppressionReason.HARD_BOUNCE,
        None,
        "said no",
    )


async def test_an_end_that_is_over_lets_mail_go_and_the_address_be_added_anew(conn: Conn) -> None:
    await added(conn, ANN, expires_at=(datetime.now(UTC) - timedelta(days=1)).isoformat())

    assert await is_written_to(conn, ANN)
    assert (await entries.list_page(conn, "default")).data == []
    assert await added(conn, ANN) == [SuppressionOutcome.RENEWED]
    assert not await is_written_to(conn, ANN)


async def test_a_domain_is_stopped_however_it_is_spelled(conn: Conn) -> None:
    assert await added(conn, "ann@bücher.example") == [SuppressionOutcome.ADDED]

    assert not await is_written_to(conn, "Ann@BÜCHER.example")
    assert not await is_written_to(conn, "ann@xn--bcher-kva.example")
    shown = await entries.check(conn, "default", email="ann@xn--bcher-kva.example")
    assert shown.suppressed
    await entries.remove_by_hash(conn, "default", address_hash=shown.email_hash, by="tests")
    assert await is_written_to(conn, "ann@bücher.example")
    assert await is_written_to(conn, "ann@xn--bcher-kva.example")


async def test_the_hash_is_an_hmac_by_a_key_of_the_project(conn: Conn) -> None:
    other = await make.project(conn, "other")
    await added(conn, ANN)
    (one,) = (await entries.list_page(conn, "default")).data
    pads = await make.rows(conn, "SELECT inner_pad, outer_pad FROM mailqueue.address_keys")

    keys = [bytes(octet ^ 0x36 for octet in inner) for inner, _ in pads]

    assert one.email_hash in [
        hmac.new(key, ANN.encode(), hashlib.sha256).hexdigest() for key in keys
    ]
    assert [bytes(octet ^ 0x5C for octet in outer) for _, outer in pads] == keys
    assert len(set(keys)) == len(keys) == 2, "each project has its own"
    there = await entries.check(conn, "other", email=ANN)
    assert there.email_hash not in ("", one.email_hash)
    await conn.execute("DELETE FROM mailqueue.address_keys WHERE project_id = %s", (other,))
    assert (await entries.check(conn, "other", email=ANN)).email_hash == ""


async def test_one_is_removed_by_its_hash_and_the_audit_names_no_address(conn: Conn) -> None:
    await added(conn, ANN)
    (one,) = (await entries.list_page(conn, "default")).data

    gone = await entries.remove_by_hash(
        conn, "default", address_hash=one.email_hash.upper(), by="tests"
    )

    assert (gone.email, gone.removed) == (ANN, 1)
    assert await is_written_to(conn, ANN)
    ((actor, subject, detail),) = await audits(conn, "suppression.removed")
    assert (actor, subject) == ("tests", f"address {one.email_hash}")
    assert detail == {"reasons": ["manual"]}
    for again in (one.email_hash, "0" * 64, "no hash", ""):
        with pytest.raises(NotFound):
            await entries.remove_by_hash(conn, "default", address_hash=again, by="tests")


@pytest.mark.parametrize("kind", ["hard", "complaint"])
async def test_who_bounced_or_complained_is_removed_for_a_reason_only(
    conn: Conn, kind: str
) -> None:
    await added(conn, ANN)  # the first reason stays, and hides the other
    await bounced(conn, kind=kind)

    for silence in (None, "", "  "):
        with pytest.raises(InvalidField, match="why: is needed for an address with") as refused:
            await entries.remove(conn, "default", email=ANN, why=silence, by="tests")
        assert refused.value.field == "why"
    with pytest.raises(InvalidField, match="control characters"):
        await entries.remove(conn, "default", email=ANN, why="she\0called", by="tests")
    assert not await is_written_to(conn, ANN)

    await entries.remove(conn, "default", email=ANN, why="she called", by="tests")
    assert await is_written_to(conn, ANN)
    [(_, _, detail)] = await audits(conn, "suppression.removed")
    assert detail["why"] == "she called"
    await bounced(conn, kind="soft")
    assert await is_written_to(conn, ANN), "the old bounce is forgotten"


async def test_a_category_can_be_taken_off_alone(conn: Conn) -> None:
    await conn.execute(
        "INSERT INTO mailqueue.unsubscribe_list (email, category)"
        " VALUES ('ann@example.com', 'marketing'), ('ann@example.com', 'digest')"
    )
    await bounced(conn)

    await entries.remove(conn, "default", email=ANN, category="marketing", by="tests")

    left = await make.rows(conn, "SELECT category FROM mailqueue.unsubscribe_list")
    assert left == [("digest",)]
    assert not await is_written_to(conn, ANN, "marketing"), "it bounced all the same"
    with pytest.raises(NotFound):
        await entries.remove(conn, "default", email=ANN, category="marketing", by="tests")


async def test_pages_follow_each_other_newest_first(conn: Conn) -> None:
    await make.project(conn, "other")
    await added(conn, *(f"p{n}@example.com" for n in range(5)), reason="complaint")
    await added(conn, "x@example.com", project="other")
    await added(conn, "Q1@example.org")

    page = await entries.list_page(conn, "default", limit=2)
    (before,) = key_of(page.next_cursor, int)
    rest = await entries.list_page(conn, "default", before=before, limit=100)

    assert rest.next_cursor is None
    assert [one.email for one in [*page.data, *rest.data]] == [
        "q1@example.org",
        *(f"p{n}@example.com" for n in range(4, -1, -1)),
    ]
    found = await entries.list_page(conn, "default", having="@EXAMPLE.org")
    assert [one.email for one in found.data] == ["q1@example.org"]
    complained = await entries.list_page(conn, "default", reason=SuppressionReason.COMPLAINT)
    assert len(complained.data) == 5
    assert (await entries.list_page(conn, "default", having="%")).data == []
    with pytest.raises(InvalidField):
        await entries.list_page(conn, "default", having="a\0b")
    for limit in (0, 1001):
        with pytest.raises(InvalidField):
            await entries.list_page(conn, "default", limit=limit)


async def test_there_is_no_list_without_a_project_or_an_address(conn: Conn) -> None:
    with pytest.raises(NotFound):
        await entries.list_page(conn, "none")
    with pytest.raises(InvalidField):
        await entries.add(conn, "default", entries=[], by="tests")
    many: list[NewSuppression] = [new_suppression(ANN)] * 1001
    with pytest.raises(InvalidField):
        await entries.add(conn, "default", entries=many, by="tests")
