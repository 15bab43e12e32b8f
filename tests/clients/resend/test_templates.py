"""The published Python library of Resend adds, changes, publishes, copies and removes templates."""

from typing import Any
from uuid import uuid4

import pytest
import requests
import resend
from resend.exceptions import ResendError

from mailqueue.projects.model import Scope
from tests.clients.serving import Served

pytestmark = pytest.mark.usefixtures("resend_here")
HTML = "<p>{{{NAME}}} owes {{{ PRICE }}}</p>"
VARIABLES: list[dict[str, Any]] = [
    {"key": "NAME", "type": "string"},
    {"key": "PRICE", "type": "number", "fallback_value": 25},
]


@pytest.fixture(autouse=True)
def without_templates(resend_here: None) -> None:
    for one in listed({"limit": 100})["data"]:
        resend.Templates.remove(one["id"])


def listed(query: Any = None) -> Any:
    return resend.Templates.list(query)


def added(**fields: Any) -> str:
    base = {"name": "Bill", "subject": "A bill", "html": HTML, "variables": VARIABLES}
    given: Any = {**base, **fields}
    made: Any = resend.Templates.create(given)
    assert made["object"] == "template"
    return str(made["id"])


def shown(template_id: str) -> Any:
    return resend.Templates.get(template_id)


def changed(template_id: str, **fields: Any) -> None:
    given: Any = {"id": template_id, **fields}
    done: Any = resend.Templates.update(given)
    assert (done["object"], done["id"]) == ("template", template_id)


def sent(template_id: str, **variables: Any) -> str:
    template = {"id": template_id, "variables": variables}
    given: Any = {"from": "a@example.com", "to": "b@example.org", "template": template}
    return str(resend.Emails.send(given)["id"])


def test_a_new_template_is_a_draft_that_can_be_sent_back_as_it_is_shown() -> None:
    made = added(alias="bill")
    found = shown(made)
    back = {name: found[name] for name in ("name", "subject", "html", "variables")}
    again = added(**back)

    assert (found["object"], found["id"], found["alias"]) == ("template", made, "bill")
    assert (found["status"], found["published_at"]) == ("draft", None)
    assert found["html"] == "<p>{{ NAME }} owes {{ PRICE | default(25) }}</p>"
    assert found["variables"] == [{**VARIABLES[0], "fallback_value": None}, VARIABLES[1]]
    assert {name: shown(again)[name] for name in back} == back
    assert shown("bill")["id"] == made


def test_mail_of_it_is_accepted_once_it_is_published(site: Served) -> None:
    made = added()
    with pytest.raises(ResendError, match=r"template\.id"):
        sent(made, NAME="Ann")
    done: Any = resend.Templates.publish(made)

    assert (done["object"], done["id"]) == ("template", made)
    assert shown(made)["status"] == "published"
    assert shown(made)["published_at"] is not None
    assert resend.Templates.publish(made)["id"] == made
    assert site.email(sent(made, NAME="Ann"))["template"] is True


@pytest.mark.parametrize(
    ("given", "named"),
    [({}, "NAME"), ({"NAME": 7}, "NAME"), ({"NAME": "Ann", "PRICE": "dear"}, "PRICE")],
)
def test_mail_needs_variables_without_fallback_and_of_their_type(given: Any, named: str) -> None:
    made = added()
    resend.Templates.publish(made)

    with pytest.raises(ResendError, match=rf"template\.variables.*{named}"):
        sent(made, **given)


def test_a_change_is_shown_at_once_and_sent_once_it_is_published(site: Served) -> None:
    made = added()
    resend.Templates.publish(made)
    changed(made, html="<b>{{{NAME}}}: {{{PRICE}}}</b>", name="Reminder")
    found = shown(made)
    before = published_html(site, made)
    resend.Templates.publish(made)

    assert found["html"] == "<b>{{ NAME }}: {{ PRICE | default(25) }}</b>"
    assert (found["name"], found["subject"], found["status"]) == ("Reminder", "A bill", "published")
    assert (found["has_unpublished_versions"], shown(made)["has_unpublished_versions"]) == (
        True,
        False,
    )
    assert "owes" in before
    assert published_html(site, made) == found["html"]


def published_html(site: Served, template_id: str) -> str:
    ((found,),) = site.rows(
        "SELECT x.html_body FROM mailqueue.template_texts AS x"
        " JOIN mailqueue.template_versions AS v ON v.id = x.version_id"
        " WHERE v.template_id = %s AND v.status = 'published'",
        template_id,
    )
    return str(found)


def test_variables_change_with_the_texts_that_have_their_fallbacks() -> None:
    made = added()
    other: Any = [{"key": "NAME", "type": "string", "fallback_value": "you"}]
    with pytest.raises(ResendError, match="give `html` as well"):
        changed(made, variables=other)
    changed(made, variables=other, html="<p>{{{NAME}}}</p>")

    assert shown(made)["html"] == '<p>{{ NAME | default("you") }}</p>'
    assert shown(made)["variables"] == other


def test_a_name_alone_changes_no_text(site: Served) -> None:
    made = added()
    changed(made, name="Invoice", alias=shown(made)["alias"])
    count = "SELECT count(*) FROM mailqueue.template_versions WHERE template_id = %s"

    assert shown(made)["name"] == "Invoice"
    assert site.rows(count, made) == [(1,)]
    with pytest.raises(ResendError, match="alias"):
        changed(made, alias="another")


def test_a_copy_is_a_draft_of_its_own() -> None:
    made = added(alias="bill")
    resend.Templates.publish(made)
    copied: Any = resend.Templates.duplicate(made)
    one, other = shown(made), shown(copied["id"])

    assert copied["id"] != made
    assert (other["status"], other["name"], other["alias"] != "bill") == (
        "draft",
        "Bill (Copy)",
        True,
    )
    assert [one[name] == other[name] for name in ("html", "subject", "variables")] == [True] * 3


def test_pages_have_each_template_once_newest_first() -> None:
    ids = [added() for _ in range(3)]
    first = listed({"limit": 2})
    second = listed({"limit": 2, "after": first["data"][-1]["id"]})
    back = listed({"limit": 2, "before": second["data"][0]["id"]})

    assert [one["id"] for page in (first, second) for one in page["data"]] == ids[::-1]
    assert [page["has_more"] for page in (first, second)] == [True, False]
    assert back["data"] == first["data"]
    assert set(first["data"][0]) == {
        *("id", "name", "alias", "status", "published_at", "created_at", "updated_at"),
    }


def test_a_removed_template_is_gone() -> None:
    made = added()
    gone: Any = resend.Templates.remove(made)

    assert (gone["object"], gone["id"], gone["deleted"]) == ("template", made, True)
    assert listed()["data"] == []
    for call in (shown, resend.Templates.publish, resend.Templates.duplicate):
        with pytest.raises(ResendError, match="Template not found"):
            call(made)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"name": ""}, "name"),
        ({"subject": None}, "subject"),
        ({"html": None}, "html"),
        ({"text": ""}, "text"),
        ({"alias": "Not a slug"}, "alias"),
        ({"from": "a@example.com"}, "from"),
        ({"reply_to": ["a@example.com"]}, "reply_to"),
        ({"html": "<p>\n{{{first name}}}</p>"}, "html.*line 2.*write {{ name | filter }}"),
        ({"html": "{{{#each xs}}}"}, "html.*line 1"),
        ({"html": "{{{{NAME}}}}"}, "html.*line 1"),
        ({"subject": "{{{RESEND_UNSUBSCRIBE_URL}}}"}, "subject.*{{ unsubscribe_url }}"),
        ({"html": "{{{loop}}}"}, "html.*'loop'"),
        ({"html": "{% if %}"}, "html.*line 1"),
        ({"variables": [{"key": "EMAIL", "type": "string"}]}, "variables.0.key.*reserved"),
        ({"variables": [{"key": "1", "type": "string"}]}, "variables.0.key"),
        ({"variables": [VARIABLES[0]] * 2}, "variables.1.key.*twice"),
        ({"variables": [{"key": "A", "type": "date"}]}, "variables.0.type"),
        ({"variables": [{**VARIABLES[1], "fallback_value": "x"}]}, "fallback_value.*number"),
        ({"variables": [{**VARIABLES[0], "fallback_value": 'a"b'}]}, "fallback_value"),
        ({"variables": [{"key": f"V{n}", "type": "string"} for n in range(51)]}, "variables"),
        ({"layout": "x"}, "layout"),
    ],
)
def test_what_is_invalid_is_named_and_adds_nothing(given: Any, named: str) -> None:
    with pytest.raises(ResendError, match=named):
        added(**given)
    assert listed()["data"] == []


def test_an_alias_is_of_one_template() -> None:
    added(alias="bill")
    with pytest.raises(ResendError, match="bill"):
        added(alias="bill")


def asked(key: str, method: str, path: str, body: Any = None) -> requests.Response:
    headers = {"Authorization": f"Bearer {key}"}
    return requests.request(method, resend.api_url + path, headers=headers, json=body, timeout=60)


def test_a_template_of_another_project_is_not_found(site: Served) -> None:
    made = added()
    for method, path, body in (
        ("GET", "", None),
        ("PATCH", "", {"name": "Mine"}),
        ("POST", "/publish", {}),
        ("POST", "/duplicate", {}),
        ("DELETE", "", None),
    ):
        answer = asked(site.keys.other, method, f"/templates/{made}{path}", body)
        assert (answer.status_code, answer.json()["message"]) == (404, "Template not found")
    assert asked(site.keys.other, "GET", "/templates").json()["data"] == []
    assert shown(made)["name"] == "Bill"
    assert asked(site.keys.live, "GET", f"/templates/{uuid4()}").status_code == 404


def test_a_key_needs_the_scope_of_templates(site: Served) -> None:
    made = added()
    reads = site.key_with(Scope.TEMPLATE_READ)

    assert asked(reads, "GET", f"/templates/{made}").status_code == 200
    for method, path in (("POST", ""), ("POST", f"/{made}/publish"), ("DELETE", f"/{made}")):
        answer = asked(reads, method, f"/templates{path}", {})
        assert (answer.status_code, answer.json()["name"]) == (401, "restricted_api_key")
    assert asked(site.keys.test, "GET", f"/templates/{made}").status_code == 200
    assert asked(site.keys.test, "DELETE", f"/templates/{made}").status_code == 401
