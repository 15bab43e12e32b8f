"""Exports over HTTP: begun, followed, fetched by a key or a signed link, and deleted."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest

from mailqueue.analytics.exports import links
from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import Scope
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.analytics.exports import steps
from tests.api.support.wired import Wired, wired
from tests.rows import each_row

pytestmark = pytest.mark.anyio
EXPORT = "/v1/analytics/export"


@pytest.fixture
async def api(database: DatabaseSettings) -> AsyncIterator[Wired]:
    async with wired(database) as made:
        yield made


async def test_a_file_is_fetched_by_the_key_and_by_a_link_without_one(
    database: DatabaseSettings,
) -> None:
    async with wired(database) as api:
        emails = await _queued(api, 3)
        begun = await api.call("POST", EXPORT, {"kind": "emails", "format": "json"})
        assert begun.status_code == 202, begun.text
        export = begun.json()
        assert (export["state"], export["download_url"]) == ("waiting", None)
        at = f"{EXPORT}s/{export['id']}"
        early = await api.call("GET", f"{at}/file")
        assert (early.status_code, "waiting" in early.text) == (409, True)
        await steps.worked(database)

        done = (await api.call("GET", at)).json()
        assert (done["state"], done["rows"]) == ("done", 3)
        ends = datetime.fromisoformat(done["download_until"])
        assert ends <= datetime.now(UTC) + links.LIFETIME
        assert ends <= datetime.fromisoformat(done["expires_at"])
        by_key = await api.call("GET", f"{at}/file")
        by_link = await api.http.get(urlsplit(done["download_url"]).path)
        for answer in (by_key, by_link):
            assert answer.status_code == 200
            assert answer.headers["content-type"] == "application/json"
            assert f"emails-{export['id']}.json" in answer.headers["content-disposition"]
            assert answer.headers["cache-control"] == "no-store"
            assert [row["id"] for row in answer.json()] == emails
        assert (await api.call("DELETE", at)).json()["state"] == "deleted"
        assert (await api.http.get(urlsplit(done["download_url"]).path)).status_code == 404


async def test_a_link_that_ended_was_changed_or_is_of_another_project_opens_nothing(
    database: DatabaseSettings,
) -> None:
    async with wired(database) as api:
        done = await _done(api, database)
        path = urlsplit(done["download_url"]).path
        token = path.removeprefix(links.PATH)
        async with connect(database) as conn:
            other = await make.project_named(conn, "other")
            begun = await steps.begun(conn, other)
            await steps.worked(database)
        theirs = (await api.call("GET", f"{EXPORT}s/{begun.id}", key=api.other)).json()
        seals_of_other = urlsplit(theirs["download_url"]).path.removeprefix(links.PATH)

        changed = [
            token[:-3] + ("AAA" if token[-3:] != "AAA" else "BBB"),
            token[:10] + ("A" if token[10] != "A" else "B") + token[11:],
            token + "A",
            token[:-1],
            "x",
            "%00",
            # A key of another project signed it, for an export of this one.
            seals_of_other[:7] + token[7:],
        ]
        for each in changed:
            answer = await api.http.get(links.PATH + each)
            assert answer.status_code == 404, each
        assert (await api.http.get(path)).status_code == 200


def test_a_link_ends_with_its_hour_and_before_its_file() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)

    assert links.end_of(now, now + timedelta(days=7)) == now + timedelta(hours=1)
    assert links.end_of(now, now + timedelta(minutes=5)) == now + timedelta(minutes=5)


@each_row(
    "body, field",
    [
        ({"kind": "persons"}, "kind"),
        ({"kind": "emails", "format": "xls"}, "format"),
        ({"kind": "emails", "filter": {"status": "gone"}}, "filter.status"),
        ({"kind": "events", "filter": {"campaign": "x"}}, "filter.campaign"),
        ({"kind": "events", "filter": {"from": "yesterday"}}, "filter.from"),
        ({"kind": "emails", "filter": {"tag": "\x00"}}, "filter"),
        ({"kind": "emails", "filter": {"tag": ""}}, "filter.tag"),
        ({"kind": "emails", "filter": {"or": "1=1"}}, "filter.or"),
        (
            {
                "kind": "emails",
                "filter": {"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"},
            },
            "filter.from",
        ),
    ],
)
async def test_what_cannot_be_exported_is_refused_by_name(
    api: Wired, body: dict[str, Any], field: str
) -> None:
    answer = await api.call("POST", EXPORT, body)
    assert answer.status_code == 422
    assert field in answer.text


@pytest.mark.parametrize(
    ("kind", "scope"),
    [
        ("emails", Scope.EMAIL_READ),
        ("events", Scope.EMAIL_READ),
        ("recipients", Scope.EMAIL_READ),
        ("suppressions", Scope.SUPPRESSION_MANAGE),
        ("stats", None),
    ],
)
async def test_persons_are_exported_only_with_the_scope_that_shows_them(
    database: DatabaseSettings, kind: str, scope: Scope | None
) -> None:
    async with wired(database) as api:
        counts, both = (
            await _key(api, Scope.ANALYTICS_READ),
            await _key(api, Scope.ANALYTICS_READ, *([] if scope is None else [scope])),
        )
        answer = await api.call("POST", EXPORT, {"kind": kind}, key=both)
        assert answer.status_code == 202
        await steps.worked(database)
        at = f"{EXPORT}s/{answer.json()['id']}"
        refused = await api.call("POST", EXPORT, {"kind": kind}, key=counts)
        file = await api.call("GET", f"{at}/file", key=counts)
        shown = (await api.call("GET", at, key=counts)).json()

        expected = (202, 200, False) if scope is None else (403, 403, True)
        assert (
            refused.status_code,
            file.status_code,
            shown["download_url"] is None,
        ) == expected
        assert (await api.call("GET", at, key=both)).json()["download_url"] is not None


async def test_another_project_sees_no_export(database: DatabaseSettings) -> None:
    async with wired(database) as api:
        done = await _done(api, database)
        at = f"{EXPORT}s/{done['id']}"
        for method, path in (("GET", at), ("DELETE", at), ("GET", f"{at}/file")):
            assert (await api.call(method, path, key=api.other)).status_code == 404
        assert (await api.call("GET", f"{EXPORT}s", key=api.other)).json()["data"] == []
        assert len((await api.call("GET", f"{EXPORT}s")).json()["data"]) == 1


async def test_a_test_key_exports_test_mail_and_sees_no_live_export(
    database: DatabaseSettings,
) -> None:
    async with wired(database) as api:
        await _queued(api, 1)
        await _queued(api, 2, sender="(test)")
        live = await _done(api, database)
        key = await _key(api, *Scope, is_test=True)
        mine = await api.call("POST", EXPORT, {"kind": "emails"}, key=key)
        await steps.worked(database)

        found = (await api.call("GET", f"{EXPORT}s", key=key)).json()["data"]
        assert [(one["id"], one["rows"]) for one in found] == [(mine.json()["id"], 2)]
        shown = (await api.call("GET", f"{EXPORT}s/{mine.json()['id']}", key=key)).json()
        link = urlsplit(shown["download_url"]).path
        assert len((await api.http.get(link)).text.splitlines()) == 3, "a header and two rows"
        assert live["rows"] == 1
        assert (await api.call("GET", f"{EXPORT}s/{live['id']}", key=key)).status_code == 404
        assert (await api.call("GET", f"{EXPORT}s/{live['id']}/file", key=key)).status_code == 404


async def _queued(api: Wired, count: int, **columns: object) -> list[str]:
    async with connect(api.database) as conn:
        ids = [
            await make.queued_email(conn, project_id=UUID(api.project_id), **columns)
            for _ in range(count)
        ]
    return [str(one) for one in sorted(ids)]


async def _done(api: Wired, database: DatabaseSettings) -> dict[str, Any]:
    begun = await api.call("POST", EXPORT, {"kind": "emails", "format": "ndjson"})
    await steps.worked(database)
    found: dict[str, Any] = (await api.call("GET", f"{EXPORT}s/{begun.json()['id']}")).json()
    assert json.dumps(found)
    return found


async def _key(api: Wired, *scopes: Scope, is_test: bool = False) -> str:
    async with connect(api.database) as conn:
        issued = await issue_key(
            conn,
            "shop",
            f"k-{uuid4()}",
            is_test=is_test,
            scopes=list(scopes),
            requests_per_second=10_000,
        )
    return issued.key.reveal()
