"""The published Python library of Resend names attributes of contacts as properties."""

from typing import Any

import pytest
import requests
import resend
from resend.exceptions import ResendError

from mailqueue.projects.model import Scope
from tests.clients.resend.people import empty, segment
from tests.clients.serving import Served

pytestmark = pytest.mark.usefixtures("resend_here")
Properties = resend.ContactProperties


@pytest.fixture(autouse=True)
def emptied(site: Served) -> None:
    empty(site)
    site.rows("DELETE FROM mailqueue.project_rules RETURNING 1")


def named(key: str = "plan", **fields: Any) -> str:
    """Add a property and return its id."""
    given: Any = {"key": key, "type": "string", "fallback_value": "free", **fields}
    made: Any = Properties.create(given)
    return str(made["id"])


def test_a_property_is_added_shown_changed_listed_and_removed() -> None:
    plan, seats = named(), named("seats", type="number", fallback_value=3)
    shown: Any = Properties.get(plan)
    page: Any = Properties.list({"limit": 1})
    rest: Any = Properties.list({"limit": 1, "after": page["data"][0]["id"]})
    Properties.update({"id": seats, "fallback_value": None})

    assert (shown["object"], shown["id"], shown["key"]) == ("contact_property", plan, "plan")
    assert (shown["type"], shown["fallback_value"]) == ("string", "free")
    assert [one["id"] for one in page["data"] + rest["data"]] == [seats, plan]
    assert (page["has_more"], rest["has_more"]) == (True, False)
    assert page["data"][0]["fallback_value"] == 3
    assert Properties.get(seats)["fallback_value"] is None
    with pytest.raises(ResendError, match="already exists"):
        named()
    gone: Any = Properties.remove(plan)
    assert (gone["object"], gone["id"], gone["deleted"]) == ("contact_property", plan, True)
    with pytest.raises(ResendError, match="Contact property not found"):
        Properties.get(plan)


def test_a_fallback_stands_in_broadcasts_unless_they_have_their_own(site: Served) -> None:
    named()
    page = "{{{contact.plan}}} {{{contact.plan|none}}} {{{contact.size}}}"
    given: Any = {"from": "a@example.com", "subject": "News", "html": page, "send": True}
    given["segment_id"] = segment()
    resend.Broadcasts.create(given)

    ((html,),) = site.rows(
        "SELECT t.html_body FROM mailqueue.template_texts AS t"
        " JOIN mailqueue.template_versions AS v ON v.id = t.version_id"
        " JOIN mailqueue.templates AS o ON o.id = v.template_id WHERE o.slug LIKE 'broadcast-%%'"
    )
    fallbacks = ['default("free", true)', 'default("none", true)', 'default("", true)']
    assert [each for each in fallbacks if each in html] == fallbacks


def test_a_key_sees_and_changes_its_project_alone(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = named()
    calls: list[Any] = [
        lambda: Properties.get(plan),
        lambda: Properties.update({"id": plan, "fallback_value": "x"}),
        lambda: Properties.remove(plan),
    ]
    monkeypatch.setattr(resend, "api_key", site.keys.other)
    for call in calls:
        with pytest.raises(ResendError, match="not found"):
            call()
    assert Properties.list()["data"] == []
    for key in (site.keys.test, site.key_with(Scope.CONTACTS_READ)):
        monkeypatch.setattr(resend, "api_key", key)
        assert Properties.get(plan)["fallback_value"] == "free"
        for call in [*calls[1:], lambda: named("size")]:
            with pytest.raises(ResendError, match="lacks"):
                call()


CANNOT: list[tuple[dict[str, Any], str]] = [
    ({"key": None}, "key"),
    ({"key": "a b"}, "key"),
    ({"key": 7}, "key"),
    ({"type": "boolean"}, "type"),
    ({"type": None}, "type"),
    ({"fallback_value": 7}, "fallback_value"),
    ({"fallback_value": "{{ x }}"}, "fallback_value"),
    ({"fallback_value": "a\0b"}, "fallback_value"),
]


@pytest.mark.parametrize(("fields", "field"), CANNOT)
def test_what_is_invalid_is_named_and_adds_nothing(
    site: Served, fields: dict[str, Any], field: str
) -> None:
    given = {"key": "plan", "type": "string"} | fields
    body = {name: value for name, value in given.items() if value is not None}
    headers = {"Authorization": f"Bearer {site.keys.live}"}
    url = f"{site.url}/contact-properties"
    answer = requests.post(url, json=body, headers=headers, timeout=30)

    assert answer.status_code == 422, answer.text
    assert field in answer.json()["message"]
    assert Properties.list()["data"] == []
