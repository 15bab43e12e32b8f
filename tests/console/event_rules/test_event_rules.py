"""Event rules in the console: added, changed, enabled, paused and removed."""

import re
from collections.abc import AsyncIterator, Mapping
from html import unescape

import pytest
from httpx2 import Response

from mailqueue.db.fetch import Conn
from mailqueue.inbox import rules
from tests import make
from tests.console.visiting import Visiting, Visitor
from tests.rows import each_row
from tests.templates.making import published

pytestmark = pytest.mark.anyio

RULES = "/console/projects/default/event-rules"
NEW = f"{RULES}/~new"
HOSTILE = "<b>Order & Co"
PLACED = {
    "name": "order-placed",
    "event_type": HOSTILE,
    "action": "mail",
    "condition": "$.total > 100",
    "template": "news",
    "recipient": "$.customer.email",
    "variables": "name = $.customer.name\r\ncount = 3\r\nnote = <i>",
    "priority": "high",
    "delay_seconds": "60",
    "tags": "order\r\n\r\nvip, new",
    "key": "$.orderId",
}


@pytest.fixture
async def visitor(console: Visiting) -> AsyncIterator[Visitor]:
    """A project admin of the default project, which has a template."""
    async with console.connection() as conn, console.visitor() as visitor:
        await published(conn, await make.project_named(conn), slug="news")
        await console.add_user("ann", "project_admin", "default")
        await visitor.log_in("ann")
        yield visitor


async def sent(visitor: Visitor, path: str, fields: Mapping[str, str]) -> Response:
    """Send the form of a page with these fields."""
    return await visitor.post(path, await visitor.form(path, path) | dict(fields))


async def added(visitor: Visitor, **fields: str) -> str:
    """Add a rule by the form; return the path of its page."""
    response = await sent(visitor, NEW, PLACED | fields)
    assert response.status_code == 303, response.text
    return str(response.headers["location"]).partition("?")[0]


@pytest.fixture
async def rule(visitor: Visitor) -> str:
    """The path of a rule that was added."""
    return await added(visitor)


async def actions(conn: Conn) -> list[str]:
    found = await make.rows(
        conn,
        "SELECT action FROM mailqueue.audit_events WHERE action LIKE 'event_rule%%'"
        " AND actor LIKE '%%ann (console)%%' ORDER BY id",
    )
    return [row[0] for row in found]


async def test_a_rule_is_added_enabled_paused_and_removed_and_the_audit_log_has_each(
    console: Visiting, visitor: Visitor
) -> None:
    empty = (await visitor.get(RULES)).text
    path = await added(visitor)
    shown, listed = (await visitor.get(path)).text, (await visitor.get(RULES)).text
    asked = (await visitor.get(f"{path}/enable")).text
    on = await visitor.submit(f"{path}/enable", f"{path}/enable")
    enabled = (await visitor.get(str(on.headers["location"]))).text
    off = await visitor.submit(f"{path}/pause", f"{path}/pause")
    paused = (await visitor.get(str(off.headers["location"]))).text
    gone = await visitor.submit(f"{path}/remove", f"{path}/remove")
    after = (await visitor.get(str(gone.headers["location"]))).text
    async with console.connection() as conn:
        recorded = await actions(conn)

    assert "Add the first" in empty
    assert "&lt;b&gt;Order &amp; Co" in shown
    assert HOSTILE not in shown + listed + asked
    assert "<i>" not in shown
    assert ">paused<" in listed
    assert "It does nothing with events of type" in shown
    assert "queue an email" in asked
    assert "It acts on events of type" in enabled
    assert "/enable" not in enabled
    assert "It does nothing with events of type" in paused
    assert "The rule was removed." in after
    assert "No event rule yet" in after
    assert recorded == [
        "event_rule.added",
        "event_rule.changed",
        "event_rule.changed",
        "event_rule.removed",
    ]


async def test_a_rule_is_kept_as_it_was_typed_and_saving_it_unchanged_changes_no_value(
    console: Visiting, visitor: Visitor
) -> None:
    path = await added(visitor)
    async with console.connection() as conn:
        project = await make.project_named(conn)
        made = await rules.get(conn, project, "order-placed")
        form = (await visitor.get(f"{path}/change")).text
        typed = {
            name: unescape(value)
            for name, value in re.findall(r'<input[^>]*name="([^"]+)"[^>]* value="([^"]*)"', form)
        }
        areas = {
            name: unescape(value)
            for name, value in re.findall(
                r'<textarea[^>]*name="([^"]+)"[^>]*>\n?([^<]*)</textarea>', form
            )
        }
        fields = {"action": "mail", "priority": "high"} | typed | areas
        saved = await visitor.post(f"{path}/change", fields)
        kept = await rules.get(conn, project, "order-placed")
        changed = await sent(
            visitor,
            f"{path}/change",
            {name: value for name, value in fields.items() if name not in ("token", "version")}
            | {"condition": "", "tags": ""},
        )
        now = await rules.get(conn, project, "order-placed")

    assert saved.status_code == changed.status_code == 303
    assert (made.is_enabled, made.condition, made.priority) == (False, "$.total > 100", "high")
    assert made.variables == {"name": "$.customer.name", "count": 3, "note": "<i>"}
    assert list(made.tags) == ["order", "vip, new"]
    assert (made.delay_seconds, made.key) == (60, "$.orderId")
    for name in ("event_type", "variables", "tags", "delay_seconds", "template", "recipient"):
        assert getattr(kept, name) == getattr(made, name), name
    assert (now.condition, list(now.tags)) == (None, [])


async def test_a_form_that_another_change_has_made_old_changes_nothing(
    console: Visiting, visitor: Visitor
) -> None:
    path = await added(visitor)
    fields = await visitor.form(f"{path}/change", f"{path}/change")
    async with console.connection() as conn:
        project = await make.project_named(conn)
        await rules.change(conn, project, "order-placed", given={"key": "$.id"}, by="ben")
        late = await visitor.post(f"{path}/change", PLACED | fields)
        kept = await rules.get(conn, project, "order-placed")

    assert late.status_code == 422
    assert "changed meanwhile" in late.text
    assert kept.key == "$.id"


@each_row(
    "fields, field",
    [
        ({"name": "Order placed"}, "name"),
        ({"event_type": ""}, "event_type"),
        ({"condition": "$.total >"}, "condition"),
        ({"recipient": ""}, "recipient"),
        ({"template": ""}, "template"),
        ({"action": "enroll", "sequence": ""}, "sequence"),
        ({"action": "explode"}, "action"),
        ({"variables": "no equals sign"}, "variables"),
        ({"delay_seconds": "-1"}, "delay_seconds"),
        ({"tags": "x" * 129}, "tags"),
    ],
)
async def test_what_is_wrong_stands_at_its_field_and_no_rule_is_added(
    console: Visiting, visitor: Visitor, fields: dict[str, str], field: str
) -> None:
    response = await sent(visitor, NEW, PLACED | fields)
    async with console.connection() as conn:
        found = await rules.list_(conn, await make.project_named(conn))

    assert response.status_code == 422
    assert f'id="fault-{field}"' in response.text
    assert found == []


async def test_a_second_rule_of_a_name_is_refused_and_a_viewer_has_no_buttons(
    console: Visiting, visitor: Visitor
) -> None:
    path = await added(visitor)
    twice = await sent(visitor, NEW, PLACED)
    unknown = await visitor.get(f"{RULES}/nothing%00/change")
    async with console.visitor() as other:
        await console.add_user("vic", "viewer", "default")
        await other.log_in("vic")
        seen = (await other.get(RULES)).text + (await other.get(path)).text

    assert twice.status_code == 422
    assert "There is a rule of this name." in twice.text
    assert unknown.status_code == 404
    assert "order-placed" in seen
    assert not re.search(r'href="[^"]*(/~new|/change|/enable|/pause|/remove)"', seen)


async def test_a_rule_is_tried_on_a_sample_and_nothing_is_kept(
    console: Visiting, visitor: Visitor
) -> None:
    path = await added(visitor)
    sample = (
        '{"total": 101, "orderId": "<i>7",'
        ' "customer": {"name": "<b>Ann", "email": "a@example.com"}}'
    )
    response = await sent(visitor, f"{path}/try", {"payload": sample})

    assert response.status_code == 200
    text = unescape(response.text)
    assert "It would queue this email." in text
    for word in ("a@example.com", "name = <b>Ann", "<i>7", "vip, new"):
        assert word in text
    assert "<b>Ann" not in response.text
    async with console.connection() as conn:
        for table in ("email_queue", "inbox_state"):
            assert await make.scalar(conn, f"SELECT count(*) FROM mailqueue.{table}") == 0


async def test_a_sample_that_the_rule_does_not_take_is_answered_with_the_reason(
    visitor: Visitor,
) -> None:
    path = await added(visitor)
    below = await sent(visitor, f"{path}/try", {"payload": '{"total": 1}'})
    without = await sent(visitor, f"{path}/try", {"payload": '{"total": 101}'})

    assert "It would do nothing" in unescape(below.text)
    assert "It would fail." in unescape(without.text)


@each_row(
    "payload",
    [
        *("", "{", "[]", "null", "7", '{"a": NaN}', '{"a": 1e999}', '{"a": "\\u0000"}'),
        *('{"a": "\\ud800"}', '{"a": 99999999999999999999}', '{"a": ' * 200 + "1" + "}" * 200),
        *("[" * 19_000, '{"a": "' + "x" * 20_000 + '"}'),
    ],
)
async def test_a_sample_that_is_no_payload_is_refused_at_its_field(
    visitor: Visitor, rule: str, payload: str
) -> None:
    response = await sent(visitor, f"{rule}/try", {"payload": payload})

    assert response.status_code == 422
    assert 'id="fault-payload"' in response.text
