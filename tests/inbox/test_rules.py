"""Event rules are checked when they are written, audited, and tried without effect."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from tests import make
from tests.inbox import events
from tests.inbox.events import consume, rule

pytestmark = pytest.mark.anyio


async def put(conn: Conn, project: UUID, name: str = "placed", **given: Any) -> None:
    await rule(conn, project, name, **given)


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ('$.a like_regex "^(a+)+$"', "like_regex is not allowed: use == or starts with"),
        ("$.** ? (@ == 1)", "** is not allowed: name the keys"),
        ("$.a.keyvalue().value", "keyvalue() is not allowed"),
        ("$.a[0, 0][0, 0][0, 0]", "lists of subscripts and arguments are not allowed"),
        ("$.a[*] == $.b[*]", "a path is compared with"),
        ("$.a[*] == 1 + $.b[0]", "a path is compared with"),
        ("1 < $.a", "a path is compared with"),
        ("$.a[*][$.b[*] ? (@.c == 1).d] == 1", "a subscript is a number, last or *"),
        ("$.a[*] ? (@.b[@.c].d == 1)", "a subscript is a number, last or *"),
        ("$.a[*] ? (exists ($.b[*] ? (@ == 1)))", "inside of a filter, a path begins with @"),
        ("$.a[*] ? (@ * @.b > 1)", "arithmetic has a number on its right"),
        ("2 * ($.a + -$.b) > 1", "arithmetic has a number on its right"),
        ("$.a[*] ? (@ + 1e50 > 1)", "a number has at most 50 digits"),
        ("$.a[*] - 1e-50 > 1", "a number has at most 50 digits"),
        ("$.a == $limit", "variables are not allowed"),
        ("$.a ==", '"$.a ==" is not a jsonpath of PostgreSQL'),
        ("", '"" is not a jsonpath of PostgreSQL'),
        ("$." + "a" * 500, "at most 500 characters, got 502"),
    ],
    ids=[
        "regex",
        "descent",
        "keyvalue",
        "subscripts",
        "pairs",
        "sum-of-paths",
        "reversed",
        "path-in-subscript",
        "item-in-subscript",
        "root-in-filter",
        "product-of-paths",
        "difference-of-paths",
        "large-number",
        "small-number",
        "variable",
        "syntax",
        "empty",
        "long",
    ],
)
async def test_a_condition_that_could_take_long_is_refused(
    conn: Conn, condition: str, why: str
) -> None:
    project = await make.project_named(conn)

    with pytest.raises(errors.InvalidParameterValue) as info:
        await put(conn, project, condition=condition)

    assert info.value.diag.column_name == "condition"
    assert f"condition: {why}" in str(info.value.diag.message_primary)


@pytest.mark.parametrize(
    "condition",
    [
        "$.a.date()",
        '$.a[*] ? (@.b.time(3).string() starts with "12")',
        "$.a.timestamp()",
        "$.a.time_tz()",
        "$.a.timestamp_tz().date()",
        '$.a.datetime("SS.FF9 Q")',
        "$.a.decimal(5000) == 1",
    ],
)
async def test_a_condition_whose_error_would_end_the_statement_is_refused(
    conn: Conn, condition: str
) -> None:
    with pytest.raises(errors.InvalidParameterValue) as info:
        await put(conn, await make.project_named(conn), condition=condition)

    assert info.value.diag.column_name == "condition"


@pytest.mark.parametrize(
    ("condition", "is_met"),
    [
        ("$.total > 100", True),
        ('$.total > -1.5e2 && $.orderId == "81"', True),
        ("$.total <= 100 || !($.vip == true)", True),
        ('$.customer.email starts with "ann@"', True),
        ('$.items[*] ? (@.sku == "b" && @.count > 1)', True),
        ('exists ($.items[*] ? (@.sku == "c"))', False),
        ("$.items[*].count > 5", False),
        ('$.items[last].sku == "b" && $.items[0 to 1].count == 2', True),
        ("$.vip", False),
        ("$.none", False),
        ("$.nothing", False),
        ("$.orderId", True),
        ('$.a."like_regex" == "x, ** $y"', False),
        ("($.total == 120.5) is unknown", False),
        ("$.total * 2 > 240", True),
        ("-($.total - (1.5 + 2)) * 1e3 < -100000.5", True),
    ],
)
async def test_a_condition_selects_events(conn: Conn, condition: str, is_met: bool) -> None:
    await put(conn, await events.project_with_template(conn), condition=condition)
    items = [{"sku": "a", "count": 1}, {"sku": "b", "count": 2}]

    done = await consume(conn, events.ORDER | {"vip": False, "none": None, "items": items})

    assert done["status"] == ("handled" if is_met else "ignored")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"event_type": ""}, "event_type"),
        ({"event_type": "a\nb"}, "event_type"),
        ({"action": "explode"}, "action"),
        ({"template": None}, "template"),
        ({"recipient": None}, "recipient"),
        ({"recipient": "no address"}, "recipient"),
        ({"recipient": "$.a["}, "recipient"),
        ({"variables": [1]}, "variables"),
        ({"variables": {"a": "$.**"}}, "variables"),
        ({"variables": {str(n): n for n in range(51)}}, "variables"),
        ({"priority": "urgent"}, "priority"),
        ({"tags": [""]}, "tags"),
        ({"delay_seconds": -1}, "delay_seconds"),
        ({"delay_seconds": 1e30}, "rule"),
        ({"is_enabled": "perhaps"}, "rule"),
        ({"action": "cancel"}, "key"),
        ({"action": "cancel", "key": "$.a", "tags": ["x"]}, "action"),
        ({"colour": "red"}, "colour"),
        ({"project_id": str(uuid4())}, "project_id"),
    ],
    ids=lambda one: next(iter(one), "") if isinstance(one, dict) else one,
)
async def test_an_invalid_field_is_named(conn: Conn, given: dict[str, Any], field: str) -> None:
    project = await make.project_named(conn)

    with pytest.raises(errors.InvalidParameterValue) as info:
        await put(conn, project, **given)

    assert info.value.diag.column_name == field


async def test_names_are_unique_in_a_project_and_bounded_in_number(conn: Conn) -> None:
    project = await make.project_named(conn)
    await put(conn, project)
    again = "SELECT mailqueue.put_event_rule(%s, 'placed', '{}', true)"
    unknown = "SELECT mailqueue.put_event_rule(%s, 'other', '{}', false)"

    assert await make.rows(conn, again, project) == []
    assert await make.rows(conn, unknown, project) == []
    for n in range(19):
        await put(conn, project, f"r{n}")
    with pytest.raises(errors.InvalidParameterValue, match="20 rules may be enabled"):
        async with conn.transaction():
            await put(conn, project, "one-more")
    await put(conn, project, "one-more", is_enabled=False)


async def test_each_version_of_a_rule_is_in_the_audit_log(conn: Conn) -> None:
    project = await make.project_named(conn)
    await put(conn, project)
    await rule(conn, project, is_new=False, priority="high")
    await rule(conn, project, is_new=False, priority="high")
    await conn.execute("SELECT mailqueue.remove_event_rule(%s, 'placed', 'tests')", [project])

    found = await make.rows(
        conn,
        "SELECT actor, action, subject, detail FROM mailqueue.audit_events"
        " WHERE action LIKE 'event\\_rule%%' ORDER BY id",
    )

    assert [row[:3] for row in found] == [
        ("tests", f"event_rule.{verb}", "event rule placed")
        for verb in ("added", "changed", "removed")
    ]
    assert [row[3]["version"] for row in found] == [1, 2, 2]
    assert found[1][3]["before"]["priority"] is None
    assert found[1][3]["after"]["priority"] == "high"


async def tried(conn: Conn, project: UUID, payload: object = events.ORDER) -> dict[str, Any]:
    found: dict[str, Any] = await make.scalar(
        conn, "SELECT mailqueue.try_event_rule(%s, 'placed', %s)", project, Jsonb(payload)
    )
    return found


WRITTEN = """
    SELECT (SELECT count(*) FROM mailqueue.email_queue),
           (SELECT count(*) FROM mailqueue.inbox_state),
           (SELECT count(*) FROM mailqueue.inbox_actions),
           (SELECT count(*) FROM mailqueue.lane_signals),
           (SELECT count(*) FROM mailqueue.project_usage_changes),
           (SELECT count(*) FROM mailqueue.audit_events)
"""


async def test_a_disabled_rule_is_tried_and_nothing_is_kept(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await put(conn, project, is_enabled=False, recipient_name="$.customer.name", key="$.orderId")
    before = await make.rows(conn, WRITTEN)

    done = await tried(conn, project)

    assert (done["status"], done["result"], done["key"]) == ("handled", "mail", "81")
    assert done["email"]["recipient"] == "ann@example.com"
    assert done["email"]["variables"] == {"name": "Ann Lee"}
    assert await make.rows(conn, WRITTEN) == before


async def test_trying_tells_what_would_fail(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await put(conn, project, is_enabled=False, condition="$.total > 100")

    assert (await tried(conn, project, {"total": 1}))["status"] == "ignored"
    lacking = await tried(conn, project, {"total": 101})
    assert (lacking["status"], lacking["result"]) == ("failed", "failed")
    assert lacking["reason"] == 'recipient: "$.customer.email" selects nothing, a string is needed'
    assert (await tried(conn, project, [1]))["reason"].startswith("payload: an object")


async def test_trying_tells_what_would_be_cancelled(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await put(conn, project, "later", event_type="A", delay_seconds=60, key="$.orderId")
    await put(conn, project, action="cancel", event_type="B", key="$.orderId", is_enabled=False)
    mail = (await consume(conn, type_="A"))["email_ids"]

    done = await tried(conn, project)

    assert (done["result"], done["cancelled_ids"]) == ("cancelled", mail)
    assert await make.status_of(conn, UUID(mail[0])) == "pending"


async def test_there_is_nothing_to_try_without_a_rule(conn: Conn) -> None:
    assert await tried(conn, await make.project_named(conn)) is None
