"""The published `sendgrid` library adds, lists, changes and activates dynamic templates."""

import json
from typing import Any

import pytest
import requests
from python_http_client.exceptions import BadRequestsError, NotFoundError
from sendgrid import SendGridAPIClient
from sendgrid.helpers.mail import Mail

from tests.clients.serving import Served

HTML = '<p>Hello {{insert name "default=Customer"}}</p>{{#if paid}}<b>Paid</b>{{/if}}'


@pytest.fixture
def templates(site: Served) -> Any:
    found = SendGridAPIClient(site.keys.live, host=site.url).client.templates
    for one in listed(found):
        found._(one["id"]).delete()
    return found


def read(response: Any) -> Any:
    return json.loads(response.body)


def listed(templates: Any, **query: Any) -> list[Any]:
    found: list[Any] = read(templates.get(query_params={"generations": "dynamic", **query}))[
        "templates"
    ]
    return found


def added(templates: Any, name: str = "Order received") -> Any:
    return read(templates.post(request_body={"name": name, "generation": "dynamic"}))


def version_of(templates: Any, template: Any, **fields: Any) -> Any:
    given = {"name": "First", "subject": "Order {{id}}", "html_content": HTML, "active": 1}
    return read(templates._(template["id"]).versions.post(request_body=given | fields))


def errors(caught: Any) -> list[tuple[str, str]]:
    return [(one["field"], one["message"]) for one in caught.value.to_dict["errors"]]


def test_mail_of_a_new_template_is_accepted_by_its_id(site: Served, templates: Any) -> None:
    made = added(templates)
    version_of(templates, made)
    message = Mail(from_email="me@example.com", to_emails="to@example.org")
    message.template_id = made["id"]
    message.dynamic_template_data = {"id": 81}
    answer = SendGridAPIClient(site.keys.live, host=site.url).send(message)

    assert answer.status_code == 202
    assert site.email(answer.headers["X-Message-Id"])["template"] is True


def test_a_template_without_a_version_is_listed_and_shown(templates: Any) -> None:
    made = added(templates)

    assert (made["name"], made["generation"], made["versions"]) == ("Order received", "dynamic", [])
    assert listed(templates) == [made] == [read(templates._(made["id"]).get())]
    assert listed(templates, generations="legacy") == []


def test_pages_have_each_template_once(templates: Any) -> None:
    # Collations of languages pass over a hyphen, so that ab stands before a-c.
    ids = {added(templates, name)["id"] for name in ("ab", "a c", "ad")}
    query: dict[str, Any] = {"generations": "dynamic", "page_size": 2}
    first = read(templates.get(query_params=query))
    token = first["_metadata"]["next_page_token"]
    second = read(templates.get(query_params={**query, "page_token": token}))

    assert [len(page["result"]) for page in (first, second)] == [2, 1]
    assert {one["id"] for page in (first, second) for one in page["result"]} == ids
    assert "next_page_token" not in second["_metadata"]


def test_the_active_version_is_one_and_any_can_be_activated(templates: Any) -> None:
    made = added(templates)
    first = version_of(templates, made)
    second = version_of(templates, made, name="Second", active=0)
    before = read(templates._(made["id"]).get())["versions"]
    path = templates._(made["id"]).versions._(second["id"])
    after_it = read(path.activate.post())
    after = read(templates._(made["id"]).get())["versions"]

    assert [(one["name"], one["active"]) for one in before] == [("Second", 0), ("First", 1)]
    assert (after_it["id"], after_it["active"]) == (second["id"], 1)
    assert [(one["id"], one["active"]) for one in after] == [(second["id"], 1), (first["id"], 0)]


def test_changed_texts_are_the_next_version_and_the_rest_stays(templates: Any) -> None:
    made = added(templates)
    first = version_of(templates, made, plain_content="Hello {{name}}")
    path = templates._(made["id"]).versions._(first["id"])
    changed = read(path.patch(request_body={"subject": "Your order {{id}}"}))

    assert changed["id"] != first["id"]
    assert (changed["active"], changed["name"]) == (1, "First")
    assert changed["subject"] == 'Your order {{ id | default("") }}'
    assert changed["html_content"] == first["html_content"]
    assert changed["plain_content"] == 'Hello {{ name | default("") }}'
    assert read(path.get())["active"] == 0
    assert read(path.patch(request_body={"active": 1}))["id"] == first["id"]


def test_plain_content_is_made_from_html_where_only_that_is_asked(templates: Any) -> None:
    made = added(templates)
    first = version_of(templates, made, plain_content="Hello {{name}}")
    path = templates._(made["id"]).versions._(first["id"])
    changed = read(path.patch(request_body={"generate_plain_content": True}))
    again = templates._(made["id"]).versions._(changed["id"])

    assert (changed["id"] != first["id"], changed["active"]) == (True, 1)
    assert (changed["plain_content"], changed["generate_plain_content"]) == ("", True)
    assert changed["html_content"] == first["html_content"]
    assert read(again.patch(request_body={"generate_plain_content": True}))["id"] == changed["id"]


def test_the_active_version_is_not_made_inactive_alone(templates: Any) -> None:
    made = added(templates)
    path = templates._(made["id"]).versions._(version_of(templates, made)["id"])
    with pytest.raises(BadRequestsError) as caught:
        path.patch(request_body={"active": 0})

    assert errors(caught) == [("active", "activate another version instead")]
    assert read(path.get())["active"] == 1


def test_a_version_may_be_as_long_as_a_template(templates: Any) -> None:
    html = "<p>Hello</p>\n" * 40_000
    version = version_of(templates, added(templates), html_content=html)
    assert version["html_content"] == html


def test_a_version_has_the_other_languages_of_the_one_it_changes(
    site: Served, templates: Any
) -> None:
    made = added(templates)
    german = {"subject": "Hallo", "html_body": "Hallo"}
    new: Any = {"subject": "Hello", "html_body": "Hello", "translations": {"de": german}}
    one = requests.post(
        f"{site.url}/v1/projects/default/templates/{made['id']}/versions",
        json=new,
        headers={"X-API-Key": site.keys.live},
        timeout=60,
    ).json()
    changed = templates._(made["id"]).versions._(one["id"]).patch(request_body={"subject": "Hi"})
    later = version_of(templates, made)

    assert languages_of(site, read(changed)["id"]) == languages_of(site, later["id"])
    assert languages_of(site, later["id"]) == ["de", "en"]


def languages_of(site: Served, version_id: str) -> list[str]:
    query = """
        SELECT language FROM mailqueue.template_texts WHERE version_id = %s
        ORDER BY language
    """
    return [language for (language,) in site.rows(query, version_id)]


def test_a_template_is_renamed_copied_and_removed(templates: Any) -> None:
    made = added(templates)
    version = version_of(templates, made)
    renamed = read(templates._(made["id"]).patch(request_body={"name": "Bill"}))
    copy = read(templates._(made["id"]).post(request_body={"name": "Copy"}))
    (of_copy,) = copy["versions"]
    texts = read(templates._(copy["id"]).versions._(of_copy["id"]).get())

    assert (renamed["id"], renamed["name"]) == (made["id"], "Bill")
    assert (texts["html_content"], texts["active"]) == (version["html_content"], 1)
    assert templates._(made["id"]).delete().status_code == 204
    assert [one["name"] for one in listed(templates)] == ["Copy"]


@pytest.mark.parametrize(
    ("given", "field", "why"),
    [
        ({"html_content": "{{> footer}}"}, "html_content", '{% include "footer" %}'),
        ({"subject": '{{formatDate at "MMM"}}'}, "subject", "format_date"),
        ({"plain_content": "{{#each items}}"}, "plain_content", "not closed"),
        ({"html_content": "{% if %}"}, "html_content", "line 1"),
        ({"html_content": "", "plain_content": ""}, "html_content", "both"),
        ({"name": ""}, "name", "at least 1 character"),
        ({"active": 2}, "active", "less than or equal to 1"),
        ({"colour": "red"}, "colour", "not supported or not known"),
    ],
)
def test_what_is_invalid_is_named_and_adds_no_version(
    templates: Any, given: Any, field: str, why: str
) -> None:
    made = added(templates)
    with pytest.raises(BadRequestsError) as caught:
        version_of(templates, made, **given)
    ((named, message),) = errors(caught)

    assert (named, why in message) == (field, True), message
    assert read(templates._(made["id"]).get())["versions"] == []


def test_templates_of_another_project_are_not_found(site: Served, templates: Any) -> None:
    made = added(templates)
    version = version_of(templates, made)
    other = SendGridAPIClient(site.keys.other, host=site.url).client.templates
    theirs = other._(made["id"])

    assert listed(other) == []
    with pytest.raises(NotFoundError):
        theirs.get()
    with pytest.raises(NotFoundError):
        theirs.patch(request_body={"name": "stolen"})
    with pytest.raises(NotFoundError):
        theirs.delete()
    with pytest.raises(NotFoundError):
        theirs.versions._(version["id"]).get()
    with pytest.raises(NotFoundError):
        version_of(other, made)
    assert read(templates._(made["id"]).get())["name"] == "Order received"
