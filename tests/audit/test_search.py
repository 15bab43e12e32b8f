"""A search of the audit log finds who did what, when and to what, in bounded work."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from mailqueue.audit import search as audit_search
from mailqueue.audit.model import AuditSearch, SealState
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.vault.masterkey import MasterKey
from tests import make
from tests.audit.sealed import add, by_owner, sealed
from tests.vault.sealed import FIRST

pytestmark = pytest.mark.anyio

ANOTHER = MasterKey(bytes(range(2, 34)))
DAY = datetime(2030, 5, 1, tzinfo=UTC)


async def entry(
    conn: Conn,
    action: str = "api_key.revoked",
    actor: str = "ann (console)",
    subject: str = "api key web",
    *,
    at: datetime = DAY,
    project: UUID | None = None,
) -> int:
    columns = {"project_id": project, "action": action, "actor": actor, "subject": subject}
    found: int = await make.inserted(conn, "audit_events", columns | {"occurred_at": at})
    return found


async def found(conn: Conn, **filters: object) -> list[int]:
    page = await audit_search.search(conn, AuditSearch(**filters), limit=100)  # type: ignore[arg-type]
    return [event.id for event in page.events]


async def test_entries_are_found_by_who_what_when_and_object(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    revoked = await entry(conn, project=shop)
    nested = await entry(conn, actor="mailqueue (Ann (console))", at=DAY + timedelta(days=1))
    setting = await entry(
        conn, "setting.changed", "ben", "setting 100%_x", at=DAY + timedelta(days=2)
    )
    everything = [setting, nested, revoked]

    assert await found(conn, since=DAY) == everything
    assert await found(conn, actor="ANN", since=DAY) == [nested, revoked]
    assert await found(conn, action="api_key.revoked", since=DAY) == [nested, revoked]
    assert await found(conn, action="revoked", since=DAY) == [nested, revoked]
    assert await found(conn, action="api_key", since=DAY) == [nested, revoked]
    assert await found(conn, action="api", since=DAY) == []
    assert await found(conn, subject="KEY web", since=DAY) == [nested, revoked]
    assert await found(conn, subject="100%_", since=DAY) == [setting]
    assert await found(conn, subject="1000", since=DAY) == [], "no pattern"
    assert await found(conn, project_id=shop, since=DAY) == [revoked]
    assert await found(conn, since=DAY + timedelta(days=1)) == [setting, nested]
    assert await found(conn, since=DAY, until=DAY + timedelta(days=1)) == [revoked]
    assert await found(conn, since=DAY + timedelta(days=9)) == []
    assert await found(conn, until=DAY - timedelta(days=9000)) == []
    assert await found(conn, actor="ann", action="revoked", subject="web", since=DAY) == [
        nested,
        revoked,
    ]
    with pytest.raises(InvalidField, match="until"):
        await found(conn, since=DAY, until=DAY)


@pytest.mark.parametrize("hours", [-1, 0, 1, 25, 149, 150, 1000])
async def test_a_time_is_found_among_ids_with_gaps(conn: Conn, hours: int) -> None:
    ids = [await entry(conn, at=DAY + timedelta(hours=hour)) for hour in range(150)]
    for gone in (0, 1, 75, 149):
        await by_owner(conn, f"DELETE FROM mailqueue.audit_events WHERE id = {ids[gone]}")
    at = DAY + timedelta(hours=hours)
    begun = AuditSearch(since=at)
    ended = AuditSearch(since=DAY - timedelta(days=9), until=at)
    later = await audit_search.search(conn, begun, limit=1000)
    earlier = await audit_search.search(conn, ended, limit=1000)

    kept = {hour: each for hour, each in enumerate(ids) if hour not in (0, 1, 75, 149)}
    assert [event.id for event in reversed(later.events)] == [
        each for hour, each in kept.items() if hour >= hours
    ]
    assert [event.id for event in reversed(earlier.events)] == [
        each for hour, each in kept.items() if hour < hours
    ]


async def test_pages_follow_each_other_without_gap_or_repetition(conn: Conn) -> None:
    ids = [await entry(conn, subject=f"s {number}") for number in range(7)]
    seen: list[int] = []
    before = None
    while True:
        page = await audit_search.search(conn, AuditSearch(since=DAY), before=before, limit=3)
        seen += [event.id for event in page.events]
        if (before := page.next) is None:
            break

    assert seen == ids[::-1]


async def test_a_search_stops_after_its_rows_and_goes_on_from_there(
    conn: Conn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_search, "MAX_LOOKED", 5)
    shop, other = await make.project(conn, "shop"), await make.project(conn, "other")
    wanted = await entry(conn, subject="needle", project=shop)
    for _ in range(12):
        await entry(conn, project=shop)
        await entry(conn, project=other)
    search = AuditSearch(shop, subject="needle")
    pages, before = [], None
    while True:
        page = await audit_search.search(conn, search, before=before, limit=10)
        pages.append(page)
        if (before := page.next) is None:
            break

    assert [len(page.events) for page in pages] == [0, 0, 1]
    assert pages[-1].events[0].id == wanted
    assert [page.looked_until is None for page in pages] == [False, False, True]


async def test_a_search_reads_as_much_as_it_looks_at_however_long_the_log_is(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    await conn.execute(
        "INSERT INTO mailqueue.audit_events (project_id, occurred_at, action, subject)"
        " SELECT CASE WHEN n %% 100 = 0 THEN %s::uuid END, '2030-01-01'::timestamptz + n * interval"
        " '1 min', 'x.changed', 's ' || n FROM generate_series(1, 100000) AS n",
        [shop],
    )
    await conn.execute("ANALYZE mailqueue.audit_events")
    for project in ("NULL", f"'{shop}'"):
        for times in ("NULL, NULL", "'2030-01-05', '2030-01-08'", "NULL, '2030-01-02'"):
            arguments = f"{project}, NULL, NULL, 51, NULL, 'no such', {times}, 1000"
            plan = await make.scalar(
                conn,
                "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)"
                f" SELECT * FROM mailqueue.audit_page({arguments})",
            )
            read = plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"]
            assert read < 1200, (arguments, read)


async def test_one_entry_is_found_in_its_project_only(conn: Conn) -> None:
    shop, other = await make.project(conn, "shop"), await make.project(conn, "other")
    mine = await entry(conn, project=shop)
    platform = await entry(conn)

    assert (await audit_search.find(conn, mine, project_id=shop)).id == mine
    assert (await audit_search.find(conn, platform)).project is None
    for event, project in ((mine, other), (platform, shop), (9_999_999, None)):
        with pytest.raises(NotFound):
            await audit_search.find(conn, event, project_id=project)


async def test_an_entry_says_whether_it_is_as_it_was_sealed(conn: Conn) -> None:
    first, second = await add(conn, "one", "two")
    before = await audit_search.check_seal(conn, first, FIRST)
    assert await audit_search.sealed_at(conn) is None
    await sealed(conn)
    after = await audit_search.check_seal(conn, first, FIRST)
    at = await audit_search.sealed_at(conn)
    await by_owner(conn, f"UPDATE mailqueue.audit_events SET actor = 'nobody' WHERE id = {second}")
    states = {
        "changed": await audit_search.check_seal(conn, second, FIRST),
        "no key": await audit_search.check_seal(conn, second, None),
        "another": await audit_search.check_seal(conn, second, ANOTHER),
        "missing": await audit_search.check_seal(conn, 9_999_999, FIRST),
    }

    assert before.state is SealState.WAITING
    assert (after.state, after.sealed_at) == (SealState.SEALED, at)
    assert at is not None
    assert abs(datetime.now(UTC) - at) < timedelta(hours=1)
    assert states["changed"].state is SealState.CHANGED
    assert states["no key"].state is SealState.UNKNOWN
    assert states["no key"].sealed_at == at
    assert states["another"].state is SealState.UNKNOWN
    assert states["missing"].state is SealState.WAITING
