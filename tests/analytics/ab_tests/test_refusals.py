"""Tests and recipients that are refused, by name; and variables that suit each variant."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from mailqueue.analytics.ab_tests import requests
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from tests import make
from tests.analytics.ab_tests import steps

pytestmark = pytest.mark.anyio
TEXTS = {"html_body": "<p>Hello</p>", "text_body": "Hello"}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"variants": [steps.SUBJECTS[0]]}, "variants"),
        ({"variants": [*steps.SUBJECTS, *steps.SUBJECTS, steps.SUBJECTS[0]]}, "variants"),
        ({"variants": [steps.SUBJECTS[0], {"name": "B", "share": 49}]}, "share"),
        ({"variants": [steps.SUBJECTS[0], {"name": "A", "share": 50}]}, "variants"),
        ({"variants": [steps.SUBJECTS[0], {"name": "B"}]}, "share"),
        ({"variants": [steps.SUBJECTS[0], {"name": "B", "share": 50, "template": "x"}]}, "html"),
        ({"variants": [1, 2]}, "variants"),
        ({"metric": "replies"}, "metric"),
        ({"alpha": 0.9}, "alpha"),
        ({"alpha": "0.05"}, "alpha"),
        ({"min_sample": 1.5}, "min_sample"),
        ({"sample_percent": 0}, "sample_percent"),
        ({"if_none": "wait"}, "if_none"),
        ({"name": ""}, "name"),
        ({"html": None, "text": "Hello"}, "html"),
        ({"options": {"track_opens": False}}, "track_opens"),
        ({"options": {"cc": ["x@example.com"]}}, "cc"),
        ({"options": {"nonsense": 1}}, "nonsense"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
async def test_what_a_test_may_not_be_is_refused_by_name(
    conn: Conn, fields: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidField) as caught:
        await steps.created(conn, **fields)
    assert caught.value.field == field


async def test_a_recipient_that_is_refused_leaves_the_others(conn: Conn) -> None:
    test = await steps.created(conn)
    people: list[dict[str, Any]] = [
        {"recipient": "ann@example.com"},
        {"recipient": "not an address"},
        {"recipient": "bob@example.com", "variables": {"x": 1}},
        {"recipient": "bob@example.com", "nonsense": 1},
        {},
        {"recipient": "Cy <cy@example.com>"},
        {"recipient": "dan@example.com", "name": "Dan", "custom_data": {"order": 7}},
    ]
    rows = await requests.add(conn, "default", test.id, people)
    statuses = [one.status for one in rows]
    assert statuses == ["queued", *["rejected"] * 5, "queued"]
    assert all(one.reason for one in rows if one.status == "rejected")


async def published(conn: Conn, slug: str, *languages: str) -> None:
    """Publish a template that needs the variable `name`."""
    project = await make.project_named(conn)
    version = {
        "texts": [
            {"language": one, **TEXTS, "subject": f"{slug} {one} {{{{ name }}}}", "needs": ["name"]}
            for one in languages
        ],
        "variables_schema": {"properties": {"name": {"type": "string"}}},
    }
    template = await make.template(conn, project, slug=slug)
    number = await make.scalar(
        conn, "SELECT mailqueue.add_template_version(%s, %s, 'tests')", template, Jsonb(version)
    )
    await make.scalar(conn, "SELECT mailqueue.publish_template(%s)", number)


async def test_variants_are_versions_of_templates_in_the_language_of_each_recipient(
    conn: Conn,
) -> None:
    await published(conn, "spring", "en", "de")
    await published(conn, "summer", "en")
    test = await steps.created(
        conn,
        subject=None,
        html=None,
        variants=[
            {"name": "A", "share": 50, "template": "spring"},
            {"name": "B", "share": 50, "template": "summer@1"},
        ],
    )
    people: list[dict[str, Any]] = [
        {"recipient": f"p{n}@example.com", "variables": {"name": "Ann"}, "language": "de-AT"}
        for n in range(30)
    ]
    rows = await requests.add(conn, "default", test.id, people)
    assert {one.status for one in rows} == {"queued"}
    found = await steps.subjects(conn, test.id, is_sample=True)
    assert set(found) == {"spring de {{ name }}", "summer en {{ name }}"}
    missing = await requests.add(conn, "default", test.id, [{"recipient": "q@example.com"}])
    assert missing[0].status == "rejected"
    assert "name" in (missing[0].reason or "")
