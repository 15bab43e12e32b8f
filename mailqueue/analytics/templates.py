"""Templates side by side, and one with its versions and links."""

from collections.abc import Sequence
from uuid import UUID

from mailqueue.analytics import store
from mailqueue.analytics.model import CountsRow, StatsScope, TimeSpan
from mailqueue.analytics.rates import counts_of, rates_of
from mailqueue.analytics.reporting import reporting
from mailqueue.analytics.spans import quarters
from mailqueue.contract.analytics import (
    AnalyticsTemplate,
    AnalyticsTemplates,
    LinkCounts,
    TemplateCounts,
    VersionCounts,
)
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn

MAX_LINKS = 100


async def templates(conn: Conn, scope: StatsScope, span: TimeSpan) -> AnalyticsTemplates:
    """Return the templates of a project with counts, the one that was sent most first."""
    span = quarters(span)
    as_of = await store.as_of(conn)
    ends = [span.since, span.until]
    rows = await store.read(conn, scope, "template", ends)
    accounts = await reporting(conn, scope, ends)
    ids = [UUID(row.value) for row in rows if row.value]
    names = {str(one.id): one for one in await store.template_names(conn, ids)}
    data = []
    for row in sorted(rows, key=lambda one: (not one.value, -one.sent, one.value)):
        counts = counts_of([row])
        named = names.get(row.value)
        data.append(
            TemplateCounts(
                id=UUID(row.value) if row.value else None,
                slug=named.slug if named else None,
                name=named.name if named else None,
                counts=counts,
                rates=rates_of(counts, reporting_sent=accounts.of_part(counts)),
            )
        )
    return AnalyticsTemplates(as_of, span.since, span.until, data)


async def template(conn: Conn, scope: StatsScope, span: TimeSpan, name: str) -> AnalyticsTemplate:
    """Return one template of a project, by id or slug.

    Raises:
        NotFound: the project has no such template.
    """
    assert scope.project_id is not None
    found = await store.find_template(conn, scope.project_id, name)
    if found is None:
        raise NotFound("template", name)
    span = quarters(span)
    as_of = await store.as_of(conn)
    ends = [span.since, span.until]
    accounts = await reporting(conn, scope, ends)
    counts = counts_of(await store.read(conn, scope, "template", ends, value=str(found.id)))
    versions = []
    links: list[CountsRow] = []
    for one in await store.version_names(conn, found.id):
        rows = await store.read(conn, scope, "version", ends, value=str(one.id))
        if rows:
            of_version = counts_of(rows)
            rates = rates_of(of_version, reporting_sent=accounts.of_part(of_version))
            versions.append(VersionCounts(one.id, one.version, of_version, rates))
            links += await store.read(conn, scope, "version_link", ends, value=str(one.id))
    return AnalyticsTemplate(
        as_of=as_of,
        since=span.since,
        until=span.until,
        id=found.id,
        slug=found.slug,
        name=found.name,
        counts=counts,
        rates=rates_of(counts, reporting_sent=accounts.of_part(counts)),
        versions=versions,
        links=await _links(conn, scope.project_id, links),
    )


async def _links(conn: Conn, project_id: UUID, rows: Sequence[CountsRow]) -> list[LinkCounts]:
    by_link: dict[str, list[CountsRow]] = {}
    for row in rows:
        by_link.setdefault(row.value2, []).append(row)
    urls = await store.urls(conn, project_id, [link for link in by_link if link])
    found = [
        LinkCounts(
            url=urls.get(link),
            clicks=sum(one.clicks for one in some),
            unique_clicks=sum(one.unique_clicks for one in some),
            machine_clicks=sum(one.machine_clicks for one in some),
        )
        for link, some in by_link.items()
    ]
    return sorted(found, key=lambda one: (-one.clicks, one.url or ""))[:MAX_LINKS]
