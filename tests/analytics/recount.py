"""A second count of mail and events, written from docs/analytics.md alone.

It reads plain rows of the tables of mail and counts in Python. It knows nothing of how counts are
kept.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from mailqueue.db.fetch import Conn
from tests import make

ALL_PROJECTS = UUID(int=0)
ORIGIN = ("country", "city", "client", "system", "device")
SHARED = {
    *("total", "campaign", "category", "tag", "provider", "domain", "provider_domain"),
    *ORIGIN,
}
METRICS = {
    "delivered": "delivered",
    "soft_bounce": "soft_bounces",
    "hard_bounce": "hard_bounces",
    "complaint": "complaints",
    "unsubscribed": "unsubscribes",
}
COUNTS = (
    *("accepted", "sent", "failed", "expired", "suppressed", "cancelled", "delivered"),
    *("soft_bounces", "hard_bounces", "complaints", "unsubscribes"),
    *("opens", "unique_opens", "machine_opens", "unique_machine_opens"),
    *("clicks", "unique_clicks", "machine_clicks", "unique_machine_clicks"),
)
_MAILS = """
SELECT m.id, m.project_id, m.is_test, m.campaign_id, m.category, m.tags, m.recipient_email,
       v.id AS version, v.template_id, c.variant, m.status, m.created_at, m.finished_at,
       m.assigned_to
  FROM (SELECT id, project_id, is_test, campaign_id, category, tags, recipient_email, content_id,
               content_on, status, created_at, finished_at, assigned_to
          FROM mailqueue.email_history
        UNION ALL
        SELECT id, project_id, is_test, campaign_id, category, tags, recipient_email, content_id,
               content_on, NULL, created_at, NULL, NULL
          FROM mailqueue.email_queue) AS m
  LEFT JOIN mailqueue.email_contents AS c ON c.id = m.content_id AND c.created_on = m.content_on
  LEFT JOIN mailqueue.template_versions AS v ON v.id = c.template_version_id
"""
_EVENTS = """
SELECT id, email_id, type, occurred_at, sender_account_id, data FROM mailqueue.email_events
 WHERE type IN ('delivered', 'soft_bounce', 'hard_bounce', 'complaint', 'unsubscribed', 'opened',
                'clicked')
 ORDER BY id
"""
Key = tuple[UUID, bool, str, str, str, datetime, str]


async def recount(conn: Conn, *, minutes: int = 1) -> Counter[Key]:
    """Return every count by project, mode, dimension, values, start of its span and metric."""
    counts = Counter[Key]()
    providers = dict(await make.rows(conn, "SELECT id, provider FROM mailqueue.sender_accounts"))
    mails: dict[UUID, tuple[Any, ...]] = {}
    for row in await make.rows(conn, _MAILS):
        mails[row[0]] = row
        status, created_at, finished_at, account = row[10:]
        if status is not None:
            for at, metric in ((created_at, "accepted"), (finished_at, status)):
                _count(counts, row, account, providers, {}, _start(at, minutes), metric)
    seen = set[tuple[object, ...]]()
    for _, mail, type_, at, account, data in await make.rows(conn, _EVENTS):
        known = dict(data or {}) if type_ in ("opened", "clicked") else {}
        is_machine = (data or {}).get("is_machine") is True
        for metric in _metrics(seen, mail, type_, is_machine=is_machine):
            _count(counts, mails[mail], account, providers, known, _start(at, minutes), metric)
    return Counter({key: value for key, value in counts.items() if value})


def _metrics(
    seen: set[tuple[object, ...]], mail: UUID, type_: str, *, is_machine: bool
) -> Iterator[str]:
    first = (mail, type_, is_machine if type_ in ("opened", "clicked") else None)
    is_first = first not in seen
    seen.add(first)
    if type_ in METRICS:
        if is_first:
            yield METRICS[type_]
        return
    name = ("machine_" if is_machine else "") + ("opens" if type_ == "opened" else "clicks")
    yield name
    if is_first:
        yield f"unique_{name}"


def _count(
    counts: Counter[Key],
    mail: tuple[Any, ...],
    account: int | None,
    providers: dict[int, str],
    known: dict[str, Any],
    at: datetime,
    metric: str,
) -> None:
    _, project, is_test, campaign, category, tags, address, version, template, variant = mail[:10]
    domain = address.rpartition("@")[2].lower()
    provider = providers.get(account) if account is not None else None
    values = [("total", "", ""), ("category", category, ""), ("domain", domain, "")]
    values += [("tag", tag, "") for tag in set(tags or ())]
    values += [("campaign", campaign, "")] if campaign else []
    values += [("variant", variant, "")] if variant else []
    if version is not None:
        values += [("version", str(version), ""), ("template", str(template), "")]
        values += [("version_link", str(version), known["link"])] if known.get("link") else []
    if account is not None:
        values += [("account", str(account), "")]
    if provider is not None:
        values += [("provider", provider, ""), ("provider_domain", provider, domain)]
    values += [(name, _origin(name, known), "") for name in ORIGIN if known.get(name)]
    for dimension, value, value2 in values:
        counts[project, is_test, dimension, value, value2, at, metric] += 1
        if dimension in SHARED:
            counts[ALL_PROJECTS, is_test, dimension, value, value2, at, metric] += 1


def _origin(name: str, known: dict[str, Any]) -> str:
    return f"{known['city']}, {known['country']}" if name == "city" else known[name]


def _start(at: datetime, minutes: int) -> datetime:
    whole = at.replace(second=0, microsecond=0)
    return whole - timedelta(minutes=whole.minute % minutes)


async def stored(conn: Conn, table: str) -> Counter[Key]:
    """Return every count that is kept in a table, those that are 0 left out."""
    columns = ", ".join(COUNTS)
    found = Counter[Key]()
    for row in await make.rows(
        conn,
        "SELECT project_id, is_test, dimension, value, value2, started_at,"
        f" {columns} FROM mailqueue.{table}",
    ):
        for metric, value in zip(COUNTS, row[6:], strict=True):
            if value:
                found[(*row[:6], metric)] = value
    return found


def differences(one: Counter[Key], other: Counter[Key]) -> list[tuple[Key, int, int]]:
    """Return where two counts differ, the first few."""
    keys = sorted((key for key in one.keys() | other.keys() if one[key] != other[key]), key=str)
    return [(key, one[key], other[key]) for key in keys[:5]]
