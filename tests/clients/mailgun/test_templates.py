"""The published `mailgun` library adds, lists, changes and removes templates and their versions."""

import json
from typing import Any

import pytest
import requests
from mailgun.builders import MailgunTemplateBuilder
from mailgun.client import Client

from tests.clients.mailgun.mails import DOMAIN, email_of
from tests.clients.mailgun.templating import (
    MODEL,
    added,
    client,
    sent,
    shown_in,
    version_added,
    versions_of,
)
from tests.clients.serving import Served

__all__ = ["client"]


def test_an_added_template_is_active_and_is_rendered_in_mail(site: Served, client: Client) -> None:
    made = added(client, description="For buyers", comment="First one").json()
    shown = shown_in(site, "receipt", {**MODEL, "id": 81})

    assert made["message"] == "template has been stored"
    assert (made["template"]["name"], made["template"]["description"]) == ("receipt", "For buyers")
    version = made["template"]["version"]
    assert (version["tag"], version["comment"]) == ("initial", "First one")
    assert (version["active"], version["engine"]) == (True, "handlebars")
    assert version["headers"]["Subject"] == 'Order {{ id | default("") }}'
    assert shown["subject"] == "Order 81"
    assert shown["html_body"] == "<p>Hello Ann</p><li>A</li><li>&lt;B&gt;</li>"
    own = email_of(site, sent(client, **{"t:variables": json.dumps(MODEL)}))
    assert own["template"]


def test_a_template_without_a_text_has_no_version_until_one_is_added(
    site: Served, client: Client
) -> None:
    bare = client.templates.create(data={"name": "Receipt"}, domain=DOMAIN).json()
    empty = client.templates.get(domain=DOMAIN, template_name="receipt", filters={"active": "yes"})
    version_added(client, "first")

    assert bare["template"]["name"] == "receipt"
    assert "version" not in bare["template"]
    assert "version" not in empty.json()["template"]
    assert [(one["tag"], one["active"]) for one in versions_of(client)] == [("first", True)]
    assert shown_in(site, "receipt", {"name": "Ann"})["subject"] == ""


def test_templates_are_listed_by_name_on_pages(site: Served, client: Client) -> None:
    for name in ("b", "a", "c"):
        added(client, name)
    pages = []
    answer = client.templates.get(domain=DOMAIN, filters={"limit": 2}).json()
    while answer["items"]:
        pages.append([one["name"] for one in answer["items"]])
        url = answer["paging"]["next"]
        answer = requests.get(url, auth=("api", site.keys.live), timeout=60).json()
    last = client.templates.get(domain=DOMAIN, filters={"limit": 2, "page": "last"}).json()
    before = requests.get(
        last["paging"]["previous"], auth=("api", site.keys.live), timeout=60
    ).json()

    assert pages == [["a", "b"], ["c"]]
    assert [one["name"] for one in last["items"]] == ["b", "c"]
    assert [one["name"] for one in before["items"]] == ["a"]
    for filters in ({"p": "gone", "page": "next"}, {"limit": 101}, {"limit": "x"}, {"page": "2"}):
        assert client.templates.get(domain=DOMAIN, filters=filters).status_code == 400


def test_a_description_is_changed_and_all_templates_are_removed(client: Client) -> None:
    added(client)
    data = {"description": "New"}
    changed = client.templates.put(data=data, domain=DOMAIN, template_name="receipt")
    shown = client.templates.get(domain=DOMAIN, template_name="receipt").json()["template"]
    removed = client.templates.delete(domain=DOMAIN, template_name="receipt").json()
    added(client, "other")
    cleared = client.templates.delete(domain=DOMAIN).json()

    assert changed.json()["template"] == {"name": "receipt"}
    assert (shown["description"], "version" in shown) == ("New", False)
    assert removed == {"message": "template has been deleted", "template": {"name": "receipt"}}
    assert cleared == {"message": "templates have been deleted"}
    assert client.templates.get(domain=DOMAIN).json()["items"] == []


def test_many_templates_are_removed_some_in_each_transaction(site: Served, client: Client) -> None:
    site.rows(
        "INSERT INTO mailqueue.templates (project_id, slug, name, created_by)"
        " SELECT p.id, 'many-' || n, 'many', 'tests' FROM mailqueue.projects AS p,"
        " generate_series(1, 250) AS n WHERE p.name = 'default' RETURNING 1"
    )

    cleared = client.templates.delete(domain=DOMAIN)

    assert cleared.status_code == 200, cleared.text
    query = (
        "SELECT count(*) FROM mailqueue.audit_events AS a WHERE a.action = 'template.deleted'"
        " AND a.subject LIKE '%many-%' GROUP BY a.xmin::text ORDER BY 1"
    )
    assert site.rows(query) == [(50,), (100,), (100,)]
    assert client.templates.get(domain=DOMAIN).json()["items"] == []


def test_a_version_becomes_active_when_that_is_asked(site: Served, client: Client) -> None:
    added(client)
    second = version_added(client, "second", comment="Shorter").json()["template"]["version"]
    is_first = shown_in(site, "receipt", {**MODEL, "id": 1})["html_body"].startswith("<p>Hello")
    client.templates.put(
        data={"active": "yes"}, domain=DOMAIN, template_name="receipt", versions=True, tag="second"
    )

    assert (second["tag"], second["comment"], second["active"]) == ("second", "Shorter", False)
    assert is_first
    assert shown_in(site, "receipt", MODEL)["html_body"] == "<p>second Ann</p>"
    found = {one["tag"]: one["active"] for one in versions_of(client)}
    assert found == {"initial": False, "second": True}
    assert "template" not in versions_of(client)[0]


def test_a_changed_version_keeps_its_tag_and_what_is_left_out(site: Served, client: Client) -> None:
    added(client, tag="v7", comment="First")
    named = {"domain": DOMAIN, "template_name": "receipt", "versions": True, "tag": "v7"}
    client.templates.put(data={"template": "<p>New {{name}}</p>"}, **named)
    shown = client.templates.get(**named).json()["template"]["version"]
    client.templates.put(data={"template": shown["template"], "comment": "Again"}, **named)

    assert (shown["tag"], shown["comment"], shown["active"]) == ("v7", "First", True)
    assert shown["headers"] == {"Subject": 'Order {{ id | default("") }}'}
    assert [(one["tag"], one["comment"]) for one in versions_of(client)] == [("v7", "Again")]
    assert shown_in(site, "receipt", {"name": "Ann", "id": 1})["html_body"] == "<p>New Ann</p>"


def test_a_version_is_copied_under_another_tag(client: Client) -> None:
    added(client)
    asked = {"domain": DOMAIN, "template_name": "receipt", "versions": True, "copy": True}
    made = client.templates.put(
        **asked, tag="initial", new_tag="other", filters={"comment": "Copied"}
    ).json()

    assert made["message"] == "version has been copied"
    assert (made["version"]["tag"], made["version"]["comment"]) == ("other", "Copied")
    assert "Hello" in made["version"]["template"]
    assert {one["tag"]: one["active"] for one in versions_of(client)} == {
        "initial": True,
        "other": False,
    }


def test_mail_names_the_version_by_its_tag(site: Served, client: Client) -> None:
    """A tag such as v2 goes before the version of that number."""
    added(client, tag="v2")
    version_added(client, "v1", active="yes")
    numbers = []
    for tag in ("v2", "v1", "2"):
        own = sent(client, **{"t:version": tag, "subject": "Hi", "t:variables": '{"name": "Ann"}'})
        numbers.append(email_of(site, own)["html"])

    assert numbers[0].startswith("<p>Hello Ann")
    assert numbers[1] == "<p>v1 Ann</p>"
    assert numbers[2] == "<p>v1 Ann</p>"
    assert sent(client, **{"t:version": "gone"}).status_code == 400


def test_a_version_is_not_deleted(client: Client) -> None:
    added(client)
    named = {"domain": DOMAIN, "template_name": "receipt", "versions": True}

    assert client.templates.delete(**named, tag="initial").status_code == 405
    assert [one["tag"] for one in versions_of(client)] == ["initial"]


def test_templates_of_the_account_are_those_of_the_project(client: Client) -> None:
    data = MailgunTemplateBuilder(name="global").set_template_content("<p>{{name}}</p>").build()
    made = client.account_templates.create(data=data)
    shown = client.templates.get(domain=DOMAIN, template_name="global")

    assert (made.status_code, shown.status_code) == (200, 200)
    assert client.account_templates.delete(template_name="global").status_code == 200


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"template": "<p>\n{{> footer}}"}, "'template' parameter: line 2: partials"),
        ({"template": "{{#each items}}"}, "'template' parameter: {{#each}} is not closed"),
        ({"template": "\n%recipient.name%"}, "line 2: %recipient.name% is not translated"),
        ({"template": "%unsubscribe_url%"}, "write {{ unsubscribe_url }}"),
        ({"template": "{% if %}"}, "'template' parameter"),
        ({"template": "{{" * 20_000}, "'template' parameter"),
        ({"template": "{{#if a}}" * 60}, "nested 50 deep"),
        ({"name": "not a slug"}, "'name' parameter"),
        ({"name": ""}, "name parameter is missing"),
        ({"tag": "two words"}, "'tag' parameter"),
        ({"comment": "c" * 600}, "'comment' parameter"),
        ({"description": "d" * 2_001}, "'description' parameter"),
        ({"headers": "[]"}, "'headers' parameter: a JSON object is needed"),
        ({"headers": '{"Subject": 1}'}, "'headers.Subject' parameter"),
        ({"headers": '{"From": "a@example.com"}'}, "'headers.From' parameter: is not kept"),
        ({"engine": "jinja"}, "'engine' parameter"),
        ({"name": "nul\0"}, "'name' parameter"),
        ({"o:tag": "x"}, "'o:tag' parameter"),
        ({"template": "", "tag": "x"}, "template parameter is missing"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_name(client: Client, given: Any, why: str) -> None:
    answer = added(client, **given)

    assert answer.status_code == 400, answer.text
    assert why in answer.json()["message"]
    assert client.templates.get(domain=DOMAIN).json()["items"] == []


def test_a_name_and_a_tag_are_taken_once(client: Client) -> None:
    added(client)

    assert added(client).status_code == 400
    assert version_added(client, "initial").status_code == 400
    assert version_added(client, "x", active="maybe").status_code == 400
    named = {"domain": DOMAIN, "template_name": "receipt", "versions": True, "tag": "initial"}
    assert client.templates.put(data={"active": "no"}, **named).status_code == 400
    assert client.templates.put(data={"comment": "c" * 600}, **named).status_code == 400
    assert client.templates.put(**named, data={"tag": "other"}).status_code == 400
    assert len(versions_of(client)) == 1
