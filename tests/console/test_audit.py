"""The audit log in the console: filters in the URL, readable details, links, and seals."""

import re
from datetime import UTC, datetime
from html import unescape

import pytest

from mailqueue.audit import search as audit_search
from mailqueue.console.audit.reading import lines_of, object_path
from mailqueue.contract.projects import AuditEvent
from mailqueue.projects.keys.manage import issue_key, revoke_key
from tests import make
from tests.console.test_keys import id_of, logged_in
from tests.console.visiting import Visiting, Visitor

pytestmark = pytest.mark.anyio

AUDIT = "/console/projects/default/audit"
_ENTRIES = re.compile(r'<a class="cover" href="([^"]*)"><b>([^<]*)</b> <bdi>([^<]*)</bdi>')


async def entries(visitor: Visitor, path: str) -> list[tuple[str, str]]:
    response = await visitor.get(path)
    assert response.status_code == 200, response.text
    return [(action, unescape(name)) for _, action, name in _ENTRIES.findall(response.text)]


async def test_who_revoked_a_key_is_found_by_one_search_and_by_three_clicks(
    console: Visiting,
) -> None:
    async with console.connection() as conn:
        for name in ("web", "mobile"):
            await issue_key(conn, "default", name, is_test=False)
    path = f"/console/projects/default/keys/{await id_of(console)}/revoke"
    async with console.visitor() as visitor:
        await logged_in(console, visitor, "ben")
        await visitor.submit(path, path, reason="seen in a commit")
        searched = await entries(visitor, f"{AUDIT}?action=revoked&subject=web")
        page = (await visitor.get(f"{AUDIT}?action=revoked&subject=web")).text
        project = (await visitor.get("/console/projects/default/emails")).text
        keys = (await visitor.get("/console/projects/default/keys")).text

    assert searched == [("api key revoked", "api key web")]
    assert "ben (console)" in page
    assert 'href="/console/projects/default/keys"' in project
    assert "revoked by <bdi>ben (console)</bdi>" in keys


async def test_filters_are_kept_in_the_page_and_in_the_link_to_older_entries(
    console: Visiting,
) -> None:
    async with console.connection() as conn:
        for number in range(55):
            await issue_key(conn, "default", f"key {number}", is_test=False)
        await revoke_key(conn, "default", "key 3")
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        path, found = f"{AUDIT}?action=created&subject=key", list[tuple[str, str]]()
        for _ in range(3):
            found += await entries(visitor, path)
            page = (await visitor.get(path)).text
            following = re.search(r'rel="next" href="([^"]*)"', page)
            if following is None:
                break
            path = unescape(following[1])
        typed = (await visitor.get(f"{AUDIT}?actor=%22%3E%3Cscript%3E&since=soon")).text
        turned = (await visitor.get(f"{AUDIT}?since=2030-05-02&until=2030-05-01")).text
        none = (await visitor.get(f"{AUDIT}?until=2001-01-01")).text

    assert len(found) == len(set(found)) == 55
    assert 'value="&#34;&gt;&lt;script&gt;"' in typed
    assert "must be a day such as 2030-05-01" in typed
    assert "Nothing is listed, because a filter is wrong: From must be a day" in typed
    assert "api key created" not in typed + turned
    assert "must not be before the first day" in turned
    assert "No entry matches" in none


async def test_a_search_that_looked_at_enough_says_so_and_goes_on(
    console: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_search, "MAX_LOOKED", 3)
    async with console.connection() as conn:
        for number in range(5):
            await issue_key(conn, "default", f"key {number}", is_test=False)
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        first = (await visitor.get(f"{AUDIT}?subject=key 0")).text
        following = re.search(r'rel="next" href="([^"]*)">([^<]*)', first)
        assert following is not None
        second = await entries(visitor, unescape(following[1]))

    assert "None of the 3 entries that were looked at matches." in first
    assert following[2] == "Search older entries"
    assert second == [("api key created", "api key key 0")]


async def test_an_entry_shows_its_details_its_object_and_its_seal(console: Visiting) -> None:
    async with console.connection() as conn:
        await issue_key(conn, "default", "<b>web", is_test=False, scopes=["email:send"])
        event = await make.scalar(conn, "SELECT max(id) FROM mailqueue.audit_events")
        platform = await make.scalar(
            conn,
            "INSERT INTO mailqueue.audit_events (action, subject) VALUES ('x.changed', 'it')"
            " RETURNING id",
        )
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        page = (await visitor.get(f"{AUDIT}/{event}")).text
        for missing in (platform, "x", "9" * 30, "%00", 0):
            assert (await visitor.get(f"{AUDIT}/{missing}")).status_code == 404, missing

    assert "api key &lt;b&gt;web" in page
    assert f'href="/console/projects/default/keys/{await id_of(console, "<b>web")}"' in page
    assert "email:send" in page
    assert "not sealed yet" in page or "no master key" in page


def test_settings_before_and_after_show_only_what_changed() -> None:
    detail = {
        "before": {"weight": 100, "daily_limit": None, "track_opens": False, "name": "a"},
        "after": {"weight": 300, "daily_limit": 5, "track_opens": True, "name": "a"},
        "by": ["x", "y"],
        "how": {"a": [1, {"b": None}]},
    }

    lines = {line.name: (line.was, line.text) for line in lines_of(detail)}

    assert lines["weight"] == ("100", "300")
    assert lines["daily_limit"] == ("none", "5")
    assert lines["track_opens"] == ("no", "yes")
    assert "name" not in lines
    assert lines["by"] == (None, "x, y")
    assert '"b": null' in lines["how"][1]
    assert [(each.was, each.text) for each in lines_of({"from": "1", "to": "2"})] == [("1", "2")]
    assert lines_of({}) == lines_of(None) == []


@pytest.mark.parametrize(
    ("action", "subject", "detail", "path"),
    [
        ("email.viewed", "email 0199d9f4-6f5e-7c31-9b50-5b6a2f0c9d11", {}, "/emails/0199d9f4"),
        ("emails.held", "project shop", {"ids": ["0199d9f4-6f5e-7c31-9b50-5b6a2f0c9d11"]}, "/em"),
        ("api_key.revoked", "api key a", {"id": "0199d9f4-6f5e-7c31-9b50-5b6a2f0c9d11"}, "/keys/"),
        ("api_key.revoked", "api key a", {"id": "javascript:alert(1)"}, None),
        ("email.viewed", "email javascript:alert(1)", {}, None),
        ("project.changed", "project shop", {}, "/overview"),
        ("suppressions.added", "project other", {}, None),
        ("sender.suspended", "sender relay", {}, "/senders"),
        ("x.y", "z", [1], None),
    ],
)
def test_an_object_with_a_page_is_linked(
    action: str, subject: str, detail: object, path: str | None
) -> None:
    at = datetime(2030, 5, 1, tzinfo=UTC)
    event = AuditEvent(1, at, "shop", "ann", action, subject, detail)

    linked = object_path(event)

    if path is None:
        assert linked is None
    else:
        assert linked is not None
        assert linked.startswith(f"/console/projects/shop{path}")
