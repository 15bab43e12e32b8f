"""Add, list, check and remove suppressions."""

import re
from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID, uuid4

from mailqueue.contract.page import Page
from mailqueue.contract.suppression import (
    AddedSuppression,
    CheckedSuppression,
    EndedSuppression,
    KnownSuppression,
    RemovedSuppression,
    Suppression,
    SuppressionReason,
)
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.core.paging import cursor_of
from mailqueue.db.fetch import Conn
from mailqueue.projects.ids import project_id_of
from mailqueue.suppression import store
from mailqueue.suppression.acceptable import address_of, category_of, text_of
from mailqueue.suppression.model import (
    EndedSuppressionRow,
    ListLine,
    NewSuppression,
    SuppressionRow,
)

MAX_ADDRESSES = 1_000
MAX_PAGE_ROWS = 1_000
_HASH = re.compile(r"[0-9a-f]{64}")


async def add(
    conn: Conn, project: str, *, entries: Sequence[NewSuppression], by: str
) -> list[AddedSuppression]:
    """Suppress addresses; queued mail to them is not sent.

    Raises:
        NotFound: there is no such project.
        InvalidField: the list is empty or longer than 1,000.
    """
    if not 1 <= len(entries) <= MAX_ADDRESSES:
        raise InvalidField("emails", f"must be 1 to {MAX_ADDRESSES} addresses, got {len(entries)}")
    project_id = await project_id_of(conn, project)
    import_id = uuid4()
    async with conn.transaction():
        lines = (ListLine(number, one) for number, one in enumerate(entries))
        await store.copy_lines(conn, import_id, lines)
        outcomes = await store.list_taken(conn, project_id, import_id, by=by)
    sent = [one.address.key for one in entries]
    hashes = await store.hashes_of(conn, project_id, sent)
    return [
        AddedSuppression(address, address_hash, outcomes[number])
        for number, (address, address_hash) in enumerate(zip(sent, hashes, strict=True))
    ]


async def list_page(
    conn: Conn,
    project: str,
    *,
    before: int | None = None,
    limit: int = 100,
    reason: SuppressionReason | None = None,
    category: str | None = None,
    having: str | None = None,
) -> Page[Suppression]:
    """Return active suppressions, newest first, after the id `before`; `having` is a part of the
    address.

    Raises:
        NotFound: there is no such project.
        InvalidField: the limit is out of range.
    """
    if not 1 <= limit <= MAX_PAGE_ROWS:
        raise InvalidField("limit", f"must be 1 to {MAX_PAGE_ROWS}, got {limit}")
    project_id = await project_id_of(conn, project)
    found = await store.list_page(
        conn,
        project_id,
        before=before,
        limit=limit + 1,
        reason=reason,
        category=None if category is None else category_of(category),
        having=text_of("having", having),
    )
    page = found[:limit]
    cursor = cursor_of(page[-1].id) if len(found) > limit else None
    return Page([_shown(row) for row in page], cursor)


async def check(
    conn: Conn, project: str, *, email: str, category: str | None = None
) -> CheckedSuppression:
    """Return whether mail of a category is sent to an address; None: of every category.

    Raises:
        NotFound: there is no such project.
        InvalidField: the address or the category is invalid.
    """
    address = address_of(email)
    wanted = category_of(category or "")
    project_id = await project_id_of(conn, project)
    concerned = await store.stopping_categories(conn, project_id, wanted)
    found = await store.find_all(conn, project_id, address.spellings)
    reasons = [one.reason for one in found if one.category in concerned]
    sent = address.key
    (address_hash,) = await store.hashes_of(conn, project_id, [sent])
    return CheckedSuppression(
        email=sent,
        email_hash=address_hash,
        suppressed=bool(reasons),
        reason=reasons[0] if reasons else None,
        suppressions=[_shown(row) for row in found],
    )


async def stopping_categories(conn: Conn, project: str, category: str) -> tuple[str, ...]:
    """Return the categories whose suppressions stop mail of a category.

    Raises:
        NotFound: there is no such project.
    """
    project_id = await project_id_of(conn, project)
    return tuple(await store.stopping_categories(conn, project_id, category))


async def remove(
    conn: Conn,
    project: str,
    *,
    email: str,
    category: str | None = None,
    why: str | None = None,
    by: str,
) -> RemovedSuppression:
    """Remove the suppressions of an address, in one category or, with None, in all.

    Raises:
        NotFound: there is no such project, or the address is not suppressed.
        InvalidField: the address is invalid, or it bounced or complained and `why` is empty.
    """
    spellings = address_of(email).spellings
    project_id = await project_id_of(conn, project)
    return await _removed(conn, project_id, spellings, category=category, why=why, by=by)


async def remove_by_hash(
    conn: Conn,
    project: str,
    *,
    address_hash: str,
    category: str | None = None,
    why: str | None = None,
    by: str,
) -> RemovedSuppression:
    """Remove the suppressions of the address with a hash, as `remove` does.

    Raises:
        NotFound: no suppressed address of the project has this hash.
    """
    project_id = await project_id_of(conn, project)
    known = address_hash.lower()
    if not (found := await _spellings_of(conn, project_id, known)):
        raise NotFound("suppression with the hash", address_hash[:100])
    spellings = tuple(one for one in found if one)
    if not spellings:
        return await _removed(
            conn, project_id, (), address_hash=known, category=category, why=why, by=by
        )
    with suppress(InvalidAddress):  # inserted by SQL, without validation
        spellings = parse_address(spellings[0]).spellings
    return await _removed(conn, project_id, spellings, category=category, why=why, by=by)


async def show(conn: Conn, project: str, *, who: str) -> KnownSuppression:
    """Return the current and ended suppressions of an address, or of a hash.

    Raises:
        NotFound: there is no such project, or the hash is unknown.
        InvalidField: the text is neither an address nor a hash.
    """
    project_id = await project_id_of(conn, project)
    if is_hash(who):
        now = await store.find_by_hash(conn, project_id, who.lower())
        before = await store.list_past(conn, project_id, (), address_hash=who.lower())
        if not now and not before:
            raise NotFound("suppression with the hash", who)
        known = [one.address for one in now] + [one.address for one in before]
        return _known(next(filter(None, known), None), who.lower(), now, before)
    spellings = address_of(who).spellings
    now = await store.find_all(conn, project_id, spellings)
    before = await store.list_past(conn, project_id, spellings, address_hash="")
    (address_hash,) = await store.hashes_of(conn, project_id, [spellings[0]])
    return _known(spellings[0], address_hash, now, before)


def is_hash(text: str) -> bool:
    """Return whether a text is the hash of an address, not an address. Pure."""
    return _HASH.fullmatch(text.lower()) is not None


async def _spellings_of(conn: Conn, project_id: UUID, address_hash: str) -> list[str]:
    if not is_hash(address_hash):
        return []
    return await store.find_spellings(conn, project_id, address_hash)


async def _removed(
    conn: Conn,
    project_id: UUID,
    spellings: tuple[str, ...],
    *,
    address_hash: str = "",
    category: str | None,
    why: str | None,
    by: str,
) -> RemovedSuppression:
    count = await store.remove(
        conn,
        project_id,
        spellings,
        address_hash=address_hash,
        category=None if category is None else category_of(category),
        why=text_of("why", why),
        by=by,
    )
    if not count:
        raise NotFound("suppression of", (*spellings, address_hash)[0])
    if not spellings:
        return RemovedSuppression(None, address_hash, count)
    (found,) = await store.hashes_of(conn, project_id, [spellings[0]])
    return RemovedSuppression(spellings[0], found, count)


def _known(
    email: str | None,
    email_hash: str,
    now: list[SuppressionRow],
    before: list[EndedSuppressionRow],
) -> KnownSuppression:
    return KnownSuppression(
        email, email_hash, [_shown(row) for row in now], [_ended(row) for row in before]
    )


def _shown(row: SuppressionRow) -> Suppression:
    return Suppression(
        email=row.address,
        email_hash=row.address_hash,
        reason=row.reason,
        category=row.category,
        detail=row.detail,
        created_at=row.created_at,
        expires_at=row.expires_at,
        email_id=row.email_id,
        source=row.source,
    )


def _ended(row: EndedSuppressionRow) -> EndedSuppression:
    return EndedSuppression(
        reason=row.reason,
        category=row.category,
        detail=row.detail,
        created_at=row.created_at,
        expires_at=row.expires_at,
        email_id=row.email_id,
        source=row.source,
        ended_at=row.ended_at,
        ended_by=row.ended_by,
        ended_why=row.ended_why,
    )
