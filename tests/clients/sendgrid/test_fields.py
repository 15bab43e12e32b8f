"""The published `sendgrid` library defines custom fields, which are attributes of contacts."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from python_http_client.exceptions import BadRequestsError, ForbiddenError, NotFoundError
from sendgrid import SendGridAPIClient

from tests.clients.serving import Served
from tests.rows import each_row


@pytest.fixture
def fields(site: Served) -> Iterator[Any]:
    site.rows("DELETE FROM mailqueue.project_rules RETURNING 1")
    yield of(site, site.keys.live)
    site.rows("DELETE FROM mailqueue.project_rules RETURNING 1")


def of(site: Served, key: str) -> Any:
    return SendGridAPIClient(key, host=site.url).client.marketing.field_definitions


def read(response: Any) -> Any:
    return json.loads(response.body)


def test_fields_are_defined_listed_and_removed(site: Served, fields: Any) -> None:
    made = fields.post(request_body={"name": "plan", "field_type": "Text"})
    fields.post(request_body={"name": "Seats", "field_type": "Number"})
    found = read(fields.get())
    plan = {"id": "plan", "name": "plan", "field_type": "Text"}
    shown = read(made)
    link = shown.pop("_metadata")["self"]

    assert (made.status_code, shown) == (200, plan)
    assert link.endswith("/v3/marketing/field_definitions/plan")
    assert {one["name"]: one["field_type"] for one in found["custom_fields"]} == {
        "plan": "Text",
        "Seats": "Number",
    }
    assert {"email", "first_name", "city"} <= {one["name"] for one in found["reserved_fields"]}
    assert found["_metadata"]["count"] == 2
    assert read(of(site, site.keys.other).get())["custom_fields"] == []
    with pytest.raises(NotFoundError):
        of(site, site.keys.other)._("plan").delete()
    with pytest.raises(ForbiddenError):
        of(site, site.keys.test)._("plan").delete()
    assert fields._("Seats").delete().status_code == 204
    assert read(fields.get())["custom_fields"] == [plan]
    with pytest.raises(NotFoundError):
        fields._("Seats").delete()


@each_row(
    "body, field",
    [
        ({"field_type": "Text"}, "name"),
        ({"name": "plan"}, "field_type"),
        ({"name": "taken", "field_type": "Text"}, "name"),
        ({"name": "city", "field_type": "Text"}, "name"),
        ({"name": "a b", "field_type": "Text"}, "name"),
        ({"name": "a\n", "field_type": "Text"}, "name"),
        ({"name": "x" * 51, "field_type": "Text"}, "name"),
        ({"name": 7, "field_type": "Text"}, "name"),
        ({"name": "born", "field_type": "Date"}, "field_type"),
        ({"name": "born", "field_type": "Colour"}, "field_type"),
        ({"name": "plan", "field_type": "Text", "size": 7}, "size"),
    ],
)
def test_a_faulty_definition_is_named(fields: Any, body: dict[str, Any], field: str) -> None:
    if not read(fields.get())["custom_fields"]:
        fields.post(request_body={"name": "taken", "field_type": "Text"})
    with pytest.raises(BadRequestsError) as caught:
        fields.post(request_body=body)

    assert caught.value.to_dict["errors"][0]["field"] == field
    assert [one["name"] for one in read(fields.get())["custom_fields"]] == ["taken"]
