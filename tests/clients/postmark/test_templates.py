"""The published Python library of Postmark adds, lists, changes and removes templates."""

from collections.abc import Callable
from typing import Any

import pytest
import requests
from postmarker.core import PostmarkClient
from postmarker.exceptions import ClientError

from tests.clients.serving import Served

HTML = """<p>Hello {{name}}</p>{{#order}}<ul>{{#each lines}}<li>{{sku}} of {{../id}}</li>
{{/each}}</ul>{{/order}}{{^order}}<p>None</p>{{/order}}"""
MODEL = {"name": "Ann", "order": {"id": 81, "lines": [{"sku": "A"}, {"sku": "<B>"}]}}


@pytest.fixture(autouse=True)
def without_templates(postmark: PostmarkClient) -> None:
    for one in listed(postmark):
        postmark.call("DELETE", f"/templates/{one['TemplateId']}")


def listed(postmark: PostmarkClient, **query: Any) -> list[Any]:
    asked = {"Count": 100, "Offset": 0, **query}
    found: list[Any] = postmark.call("GET", "/templates", **asked)["Templates"]
    return found


def added(postmark: PostmarkClient, **fields: Any) -> Any:
    given = {"Name": "Receipt", "Subject": "Order {{order.id}}", "HtmlBody": HTML, **fields}
    return postmark.templates.create(**given)


def sent(postmark: PostmarkClient, model: Any, **named: Any) -> Any:
    given = {"TemplateId": None, "TemplateAlias": None, **named}
    return postmark.emails.send_with_template(
        TemplateModel=model, From="me@example.com", To="to@example.org", **given
    )


def shown_in(site: Served, slug: str, variables: Any, **more: Any) -> Any:
    """Return what a preview of a template shows, which is rendered as mail is."""
    return asked(site, f"{slug}/preview", {"variables": variables, **more})


def asked(site: Served, path: str, body: Any) -> Any:
    """Ask our own API for a change of templates."""
    answer = requests.post(
        f"{site.url}/v1/projects/default/templates/{path}",
        json=body,
        headers={"X-API-Key": site.keys.live},
        timeout=60,
    )
    assert answer.ok, answer.text
    return answer.json()


def refused(ask: Callable[[], Any]) -> int:
    """Return the code of the error with which a request of the library ends."""
    with pytest.raises(ClientError) as caught:
        ask()
    code: int = caught.value.error_code
    return code


def test_mail_of_a_template_reads_as_mustachio_would_have_it(
    site: Served, postmark: PostmarkClient
) -> None:
    added(postmark, Alias="receipt")
    full, empty = shown_in(site, "receipt", MODEL), shown_in(site, "receipt", {})

    assert full["subject"] == "Order 81"
    assert "".join(full["html_body"].split("\n")) == (
        "<p>Hello Ann</p><ul><li>A of 81</li><li>&lt;B&gt; of 81</li></ul>"
    )
    assert (empty["subject"], empty["html_body"]) == ("Order", "<p>Hello </p><p>None</p>")


@pytest.mark.parametrize("alias", ["receipt", None])
def test_a_new_template_can_be_sent_at_once(
    site: Served, postmark: PostmarkClient, alias: str | None
) -> None:
    made = added(postmark, Alias=alias)
    named = {"TemplateAlias": alias} if alias else {"TemplateId": made.TemplateId}
    answer = sent(postmark, MODEL, **named)

    assert (answer["ErrorCode"], made.Alias, made.Active) == (0, alias, True)
    assert site.email(answer["MessageID"])["template"] is True


def test_templates_are_listed_and_shown_by_number_and_alias(postmark: PostmarkClient) -> None:
    first = added(postmark, Alias="a-first")
    second = added(postmark, Alias="b-second", Name="Other", TextBody="Hi {{name}}")
    page = postmark.call("GET", "/templates", Count=1, Offset=1)
    by_number = postmark.templates.get(second.TemplateId)
    by_alias = postmark.templates.get("b-second")

    assert [one["Alias"] for one in listed(postmark)] == [first.Alias, second.Alias]
    assert (page["TotalCount"], page["Templates"][0]["Alias"]) == (2, "b-second")
    assert by_number.TemplateId == by_alias.TemplateId == second.TemplateId
    assert (by_alias.Name, by_alias.TextBody) == ("Other", 'Hi {{ name | default("") }}')
    assert listed(postmark, TemplateType="Layout") == []


def test_a_template_is_changed_in_what_is_given_and_can_be_sent_back(
    site: Served, postmark: PostmarkClient
) -> None:
    made = added(postmark, Alias="receipt")
    postmark.templates.edit(made.TemplateId, Name="Bill")
    renamed = postmark.templates.get("receipt")
    postmark.templates.edit(made.TemplateId, Subject="Bill for {{name}}")
    changed = shown_in(site, "receipt", MODEL)
    shown = postmark.templates.get("receipt")
    postmark.templates.edit("receipt", Subject=shown.Subject, HtmlBody=shown.HtmlBody)

    assert (renamed.Name, renamed.Subject) == ("Bill", postmark_subject())
    assert (changed["subject"], "A of 81" in changed["html_body"]) == ("Bill for Ann", True)
    assert shown_in(site, "receipt", MODEL) == {**changed, "version": 3}


def postmark_subject() -> str:
    return 'Order {{ (order | default({}))["id"] | default("") }}'


def test_an_invalid_name_leaves_the_texts_as_they_were(postmark: PostmarkClient) -> None:
    added(postmark, Alias="receipt")
    for name in ("n" * 201, ""):
        with pytest.raises(ClientError, match="'Name'"):
            postmark.templates.edit("receipt", Name=name, Subject="Changed")
    assert postmark.templates.get("receipt").Subject == postmark_subject()


def test_other_languages_schema_and_css_are_as_in_the_version_before(
    site: Served, postmark: PostmarkClient
) -> None:
    slug = "receipt"
    site.add_template(slug, subject="Old", html="<p>Old</p>")
    style = "<style>p{color:red}</style>"
    new = {
        "subject": "Hello",
        "html_body": f"{style}<p>Hello</p>",
        "translations": {"de": {"subject": "Hallo", "html_body": f"{style}<p>Hallo</p>"}},
        "variables_schema": {"type": "object", "required": ["id"]},
        "inline_css": True,
    }
    asked(site, f"{slug}/versions", new)
    asked(site, f"{slug}/versions/2/publish", {})
    postmark.templates.edit(slug, Subject="Bill {{id}}")
    german = shown_in(site, slug, {"id": 1}, language="de")

    assert (german["version"], german["subject"]) == (3, "Hallo")
    assert '<p style="color: red' in german["html_body"]
    assert shown_in(site, slug, {"id": 1})["subject"] == "Bill 1"
    with pytest.raises(ClientError, match="id"):
        sent(postmark, {}, TemplateAlias=slug)


def test_a_template_is_removed(postmark: PostmarkClient) -> None:
    made = added(postmark, Alias="receipt")

    assert postmark.templates.delete("receipt") == f"Template {made.TemplateId} removed."
    with pytest.raises(ClientError) as caught:
        postmark.templates.get("receipt")
    assert caught.value.error_code == 1101
    assert listed(postmark) == []


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"HtmlBody": "<p>\n{{> footer}}"}, r"'HtmlBody': line 2: .*{% include \"footer\" %}"),
        ({"HtmlBody": "{{#each items}}"}, "'HtmlBody': {{#each}} is not closed"),
        ({"TextBody": "{{first-name}}"}, "'TextBody'.*'first-name'"),
        ({"Subject": "{{upper name}}"}, r"'Subject'.*{{ name \| filter }}"),
        ({"Subject": "{% if %}"}, "'Subject'"),
        ({"Alias": "Not A Slug"}, "'Alias'"),
        ({"HtmlBody": "{{" * 20_000}, "'HtmlBody'"),
    ],
)
def test_what_is_not_translated_is_refused_with_what_to_write(
    postmark: PostmarkClient, given: Any, named: str
) -> None:
    with pytest.raises(ClientError, match=named):
        added(postmark, **given)
    assert listed(postmark) == []


def test_layouts_are_refused(postmark: PostmarkClient) -> None:
    body = {"Name": "a", "Subject": "a", "HtmlBody": "a", "LayoutTemplate": "base"}
    with pytest.raises(ClientError, match=r"\{% extends"):
        postmark.call("POST", "/templates", data=body)
    body = {"Name": "a", "HtmlBody": "{{{@content}}}", "Subject": "", "TemplateType": "Layout"}
    with pytest.raises(ClientError, match="TemplateType"):
        postmark.call("POST", "/templates", data=body)


def test_an_alias_is_taken_once(postmark: PostmarkClient) -> None:
    added(postmark, Alias="receipt")
    with pytest.raises(ClientError, match="receipt already"):
        added(postmark, Alias="receipt")


def test_templates_of_another_project_are_not_found(site: Served, postmark: PostmarkClient) -> None:
    made = added(postmark, Alias="receipt")
    other = PostmarkClient(server_token=site.keys.other, root_api_url=site.url)

    assert listed(other) == []
    assert refused(lambda: other.templates.get(made.TemplateId)) == 1101
    assert refused(lambda: other.templates.get("receipt")) == 1101
    assert refused(lambda: other.templates.edit("receipt", Name="stolen")) == 1101
    assert refused(lambda: other.templates.delete("receipt")) == 1101
    assert postmark.templates.get("receipt").Name == "Receipt"


def test_a_template_is_tried_without_storing_it(postmark: PostmarkClient) -> None:
    tried = postmark.templates.validate(
        Subject="Order {{order.id}}",
        HtmlBody=f"<style>p{{color:red}}</style>{HTML}",
        TextBody="Hello {{name}} of {{company}}",
        TestRenderModel=MODEL,
    )

    assert tried["AllContentIsValid"]
    assert tried["Subject"]["RenderedContent"] == "Order 81"
    assert '<p style="color: red' in tried["HtmlBody"]["RenderedContent"]
    assert "A of 81" in tried["HtmlBody"]["RenderedContent"]
    assert tried["TextBody"]["RenderedContent"] == "Hello Ann of company_Value"
    assert tried["SuggestedTemplateModel"]["company"] == "company_Value"
    assert tried["SuggestedTemplateModel"]["order"] == MODEL["order"]
    assert listed(postmark) == []


def test_a_model_is_suggested_for_names_blocks_and_lists(postmark: PostmarkClient) -> None:
    text = "{{a.b}}{{#c}}{{d}}{{/c}}{{#each e}}{{f}}{{/each}}{{^g}}x{{/g}}{{#if h}}{{i}}{{/if}}"
    tried = postmark.templates.validate(Subject="S", TextBody=text)

    assert tried["HtmlBody"] is None
    assert tried["SuggestedTemplateModel"] == {
        "a": {"b": "b_Value"},
        "c": {"d": "d_Value"},
        "e": [{"f": "f_Value"}],
        "g": "g_Value",
        "h": "h_Value",
        "i": "i_Value",
    }
    assert tried["TextBody"]["RenderedContent"] == "b_Valued_Valuef_Valuei_Value"


def test_each_text_that_is_invalid_is_named_with_its_line(postmark: PostmarkClient) -> None:
    tried = postmark.templates.validate(
        Subject="{{upper name}}", HtmlBody="<p>\n{{> footer}}", TextBody="Hello {{name}}"
    )
    (subject,) = tried["Subject"]["ValidationErrors"]
    (html,) = tried["HtmlBody"]["ValidationErrors"]

    assert not tried["AllContentIsValid"]
    assert "{{ name | filter }}" in subject["Message"]
    assert (html["Line"], "include" in html["Message"]) == (2, True)
    assert tried["HtmlBody"]["RenderedContent"] is None
    assert tried["TextBody"] == {
        "ContentIsValid": True,
        "ValidationErrors": [],
        "RenderedContent": "Hello name_Value",
    }


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, 300),
        ({"Subject": 7}, 403),
        ({"TextBody": "x", "TestRenderModel": [1]}, 403),
        ({"TextBody": "x", "LayoutTemplate": "base"}, 300),
        ({"TextBody": "x", "Other": 1}, 403),
        ({"TextBody": "nul\0"}, 300),
    ],
)
def test_what_cannot_be_tried_is_refused(postmark: PostmarkClient, body: Any, code: int) -> None:
    assert refused(lambda: postmark.call("POST", "/templates/validate", data=body)) == code


def test_heavy_texts_are_refused_or_bounded(postmark: PostmarkClient) -> None:
    deep = "{{#a}}" * 200
    tried = postmark.templates.validate(Subject="S", TextBody=deep, HtmlBody="{{x}}" * 20_000)

    assert not tried["AllContentIsValid"]
    assert not tried["TextBody"]["ContentIsValid"]
    assert not tried["HtmlBody"]["ContentIsValid"]
