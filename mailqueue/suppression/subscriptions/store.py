"""SQL of categories and of recipients' choices."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.contract.suppression import Category, CategoryText
from mailqueue.core.address import key_of
from mailqueue.db.fetch import Conn, many, maybe, value
from mailqueue.db.refusals import refusals
from mailqueue.db.statements import suppression as sql
from mailqueue.suppression.subscriptions.model import Choice, ChoiceOrigin, LinkRecipient


class ReaderRow(NamedTuple):
    """The recipient of a mail, and its project."""

    project_id: UUID
    project: str
    brand_color: str | None
    logo: UUID | None
    page_texts: Mapping[str, Mapping[str, str]] | None
    address: str
    category: str
    campaign_id: str | None
    language: str | None


class SubscriptionRow(NamedTuple):
    """A category, and the reason why its mail is not sent to a recipient ("": it is sent)."""

    slug: str
    name: str
    description: str | None
    translations: Mapping[str, Mapping[str, str]]
    is_required: bool
    is_ours: bool
    reason: str
    until: datetime | None


class CategoryRow(NamedTuple):
    """A category; its translations by language, then field."""

    slug: str
    name: str
    description: str | None
    translations: Mapping[str, Mapping[str, str]]
    is_required: bool
    place: int
    created_at: datetime
    updated_at: datetime


class Changed(NamedTuple):
    """A category whose state has changed."""

    category: str
    state: str


async def find_recipient_of_link(
    conn: Conn, email_id: UUID, *, recipient: int
) -> LinkRecipient | None:
    """Return the recipient at a position of a mail; None if the mail is gone or the recipient
    erased.
    """
    params = {"email_id": email_id, "recipient": recipient}
    found = await maybe(conn, sql.FIND_RECIPIENT_OF_LINK, params, ReaderRow)
    return None if found is None else LinkRecipient(email_id, *found)


async def list_subscriptions(
    conn: Conn, project_id: UUID, address: str, *, more: Sequence[str]
) -> list[SubscriptionRow]:
    """Return the state of every category of the project, and of those in `more`."""
    params = {"project_id": project_id, "address": address, "more": list(more)}
    return await many(conn, sql.LIST_SUBSCRIPTIONS, params, SubscriptionRow)


async def find_global_suppression(conn: Conn, project_id: UUID, address: str) -> str | None:
    """Return the reason why no mail at all is sent to an address; None where some is."""
    params = {"project_id": project_id, "address": address}
    return await maybe(conn, sql.FIND_GLOBAL_SUPPRESSION, params, str)


async def change(
    conn: Conn,
    reader: LinkRecipient,
    choices: Sequence[Choice],
    *,
    origin: ChoiceOrigin,
) -> bool:
    """Apply all choices, for every spelling of the address; return whether anything changed.

    Raises:
        InvalidField: recipients cannot unsubscribe from one of these categories.
    """
    if not choices:
        return False
    wanted = [
        {
            "category": one.category,
            "state": one.state,
            "until": one.until and one.until.isoformat(),
        }
        for one in choices
    ]
    params = {
        "project_id": reader.project_id,
        "spellings": [key_of(reader.address)],
        "choices": Jsonb(wanted),
        "source": origin.source,
        "email_id": reader.email_id,
        "campaign_id": reader.campaign_id,
        "user_agent": origin.user_agent,
        "network": origin.network,
        "by": origin.by,
    }
    with refusals(otherwise=""):
        return bool(await many(conn, sql.CHANGE_SUBSCRIPTIONS, params, Changed))


async def list_categories(
    conn: Conn, project_id: UUID, *, slug: str | None = None
) -> list[Category]:
    """Return the categories of a project in their order, or the one with the slug."""
    params = {"project_id": project_id, "slug": slug}
    return [_shown(row) for row in await many(conn, sql.LIST_CATEGORIES, params, CategoryRow)]


async def put_category(
    conn: Conn,
    project_id: UUID,
    slug: str,
    *,
    fields: Mapping[str, object],
    must_be_new: bool,
    by: str,
) -> Category | None:
    """Add or change a category; return None where it must be new and exists.

    Raises:
        InvalidField: a field is invalid.
    """
    params = {
        "project_id": project_id,
        "slug": slug,
        "given": Jsonb(fields),
        "must_be_new": must_be_new,
        "by": by,
    }
    with refusals(otherwise=""):
        async with conn.transaction():
            found = await maybe(conn, sql.PUT_CATEGORY, params, CategoryRow)
    return None if found is None else _shown(found)


async def remove_category(conn: Conn, project_id: UUID, slug: str, *, by: str) -> bool:
    """Remove a category; return False where there is none."""
    params = {"project_id": project_id, "slug": slug, "by": by}
    return await value(conn, sql.REMOVE_CATEGORY, params, bool)


def _shown(row: CategoryRow) -> Category:
    found = row.translations if isinstance(row.translations, dict) else {}
    texts = {
        language: CategoryText(words.get("name"), words.get("description"))
        for language, words in found.items()
        if isinstance(words, dict)
    }
    return Category(**{**row._asdict(), "translations": texts})
