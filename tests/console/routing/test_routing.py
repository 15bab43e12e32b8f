"""Routing rules in the console: added, listed, tried with an email, removed."""

from html import unescape

import pytest

from mailqueue.senders.routes import manage
from tests import make
from tests.console.visiting import Visiting

pytestmark = pytest.mark.anyio

PATH = "/console/projects/default/routes"


async def test_a_rule_is_added_tried_and_removed(console: Visiting) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        for name in ("bulk", "spare"):
            await make.sender_account(conn, name=name)
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        empty = (await visitor.get(PATH)).text
        typed = {
            "category": "marketing",
            "domain": "*.example.com",
            "sender_names": "bulk\r\n spare",
        }
        form = await visitor.form(f"{PATH}/new", f"{PATH}/new")
        added = await visitor.post(f"{PATH}/new", form | typed)
        again = await visitor.post(f"{PATH}/new", form | typed)
        listed = (await visitor.get(added.headers["location"])).text
        query = "recipient=ann%40mx.example.com&category="
        tried = (await visitor.get(f"{PATH}?{query}marketing")).text
        other = (await visitor.get(f"{PATH}?{query}")).text
        wrong = (await visitor.get(f"{PATH}?recipient=ann")).text
        (rule,) = await manage.list_all(conn, project="default")
        one = f"{PATH}/{rule.rule_id}/remove"
        asked = (await visitor.get(one)).text
        removed = await visitor.submit(one, one)
        left = await manage.list_all(conn, project="default")
        actors = await make.rows(
            conn, "SELECT actor, action FROM mailqueue.audit_events WHERE action LIKE 'route.%%'"
        )

    assert "No routing rule yet" in empty
    assert again.headers["location"].endswith("done=before")
    assert "The rule was added." in listed
    assert (rule.category, rule.domain) == ("marketing", "*.example.com")
    assert (rule.tag, rule.senders) == (None, ["bulk", "spare"])
    assert ("Rule 1 applies." in tried, "No rule applies." in other) == (True, True)
    assert 'id="fault-recipient"' in wrong
    assert "category marketing, recipients at *.example.com" in unescape(asked)
    assert (removed.headers["location"], left) == (f"{PATH}?done=removed", [])
    assert {action for _, action in actors} == {"route.added", "route.removed"}
    assert all("ann (console)" in actor for actor, _ in actors)


async def test_what_is_wrong_with_a_rule_stands_at_its_field(console: Visiting) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        await make.sender_account(conn, name="bulk")
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        for typed, field, why in (
            ({"sender_names": "bulk"}, "category", "a category, a tag or a domain is needed"),
            ({"sender_names": "none", "tag": "x"}, "sender_names", "has no sender account"),
            ({"sender_names": "bulk\nbulk", "tag": "x"}, "sender_names", "is named twice"),
            ({"sender_names": "bulk", "domain": "a b"}, "domain", "example.com"),
        ):
            answer = await visitor.submit(f"{PATH}/new", f"{PATH}/new", **typed)
            text = unescape(answer.text)
            assert answer.status_code == 422, typed
            assert f'id="fault-{field}"' in text, typed
            assert why in text.lower(), typed
        assert await manage.list_all(conn, project="default") == []


async def test_a_viewer_changes_no_rule_and_no_rule_of_another_project_is_there(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor, console.connection() as conn:
        blog = await make.project(conn, "blog")
        await make.sender_account(conn, project_id=blog, name="theirs")
        sql = "SELECT mailqueue.add_route('blog', '{theirs}', p_tag => 'x')"
        theirs = await make.scalar(conn, sql)
        await console.add_user("ann", "project_admin", "default")
        await console.add_user("ben", "viewer", "blog")
        await visitor.log_in("ann")
        hidden = await visitor.get(f"{PATH}/{theirs}/remove")
        listed = (await visitor.get(PATH)).text
        await visitor.log_in("ben")
        shown = (await visitor.get("/console/projects/blog/routes")).text
        one = f"/console/projects/blog/routes/{theirs}/remove"
        refused = await visitor.post(one, {"token": visitor.token(one)})

    assert (hidden.status_code, "theirs" in listed) == (404, False)
    assert ("theirs" in shown, one in shown, refused.status_code) == (True, False, 403)
