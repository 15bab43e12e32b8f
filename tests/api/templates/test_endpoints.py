"""Templates over HTTP."""

from typing import Any

import pytest

from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import Scope
from tests import make
from tests.api.support.calling import Calling, error_of
from tests.templates.making import published

pytestmark = pytest.mark.anyio

WORDS = {
    "subject": "Welcome to {{.CompanyName}}, {{.FirstName}}!",
    "html_body": "<html><body>Hi {{.FirstName}}</body></html>",
    "variables_schema": {
        "type": "object",
        "required": ["FirstName", "CompanyName"],
        "properties": {
            "FirstName": {"type": "string"},
            "CompanyName": {"type": "string"},
            "LoginURL": {"type": "string", "format": "uri"},
        },
    },
}
ANN = {"FirstName": "Ann <3", "CompanyName": "Acme"}


async def pid(api: Calling) -> str:
    async with connect(api.database) as conn:
        return str(await make.project_named(conn))


async def root(api: Calling) -> str:
    return f"/v1/projects/{await pid(api)}/templates"


async def made(api: Calling, path: str, body: Any) -> Any:
    answer = await api.post(path, body)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


async def test_a_template_is_made_tried_published_sent_and_deleted(api: Calling) -> None:
    path = await root(api)
    template = await made(api, path, {"slug": "welcome", "category": "onboarding"})
    one = f"{path}/{template['id']}"
    assert (template["name"], template["language"], template["published_version"]) == (
        "welcome", "en", None
    )  # fmt: skip

    version = await made(api, f"{one}/versions", WORDS)
    seen = await made(api, f"{one}/preview", {"variables": ANN})
    assert (version["version"], version["status"], seen["version"]) == (1, "draft", 1)
    assert seen["subject"] == "Welcome to Acme, Ann <3!"
    assert "Hi Ann &lt;3" in seen["html_body"]
    assert seen["text_body"] == "Hi Ann <3\n"

    done = await made(api, f"{one}/versions/{version['id']}/publish", {})
    assert done["status"] == "published"
    second = await made(api, f"{one}/versions", WORDS | {"subject": "Hi {{ FirstName }}"})
    found = (await api.get(f"{one}/versions/diff?from=1&to=2")).json()["diff"]
    assert "-Welcome to {{.CompanyName}}, {{.FirstName}}!\n+Hi {{ FirstName }}\n" in found
    await made(api, f"{one}/versions/2/publish", {})
    listed = (await api.get(f"{one}/versions")).json()["data"]
    assert [(v["version"], v["status"]) for v in listed] == [(2, "published"), (1, "archived")]
    said = (await api.get(f"{one}/versions/{second['id']}")).json()
    assert (said["subject"], said["text_body"]) == ("Hi {{ FirstName }}", None)

    assert (await api.delete(one)).status_code == 204
    assert (await api.get(one)).status_code == 404
    assert (await api.get(path)).json()["data"] == []


async def test_what_does_not_compile_is_refused_with_its_line(api: Calling) -> None:
    path = await root(api)
    await made(api, path, {"slug": "broken"})
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"html_body": "a\n{% for %}"}, "html_body", "line 2: "),
        ({"html_body": "{{if .A}}x{{end}}"}, "html_body", "write {% if A %}"),
        ({"html_body": "{{ 'a' | attr('x') }}"}, "html_body", "No filter named 'attr'"),
        ({"variables_schema": {"$ref": "https://example.com/s"}}, "variables_schema", "$ref"),
        ({"variables_schema": {"type": "objekt"}}, "variables_schema", "type must be object"),
        ({"translations": {"en": {"subject": "x", "text_body": "x"}}}, "translations", "twice"),
    ]

    for change, field, why in cases:
        answer = await api.post(f"{path}/broken/versions", WORDS | change)
        assert answer.status_code == 422, change
        assert error_of(answer)["field"] == field
        assert why in error_of(answer)["message"]


async def test_variables_that_do_not_fit_are_named_in_a_preview(api: Calling) -> None:
    path = await root(api)
    await made(api, path, {"slug": "strict"})
    await made(api, f"{path}/strict/versions", WORDS)

    answer = await api.post(f"{path}/strict/preview", {"variables": ANN | {"LoginURL": "no"}})

    assert answer.status_code == 422
    assert error_of(answer)["field"] == "variables.LoginURL"


async def test_the_platforms_templates_are_seen_copied_and_not_changed(api: Calling) -> None:
    path = await root(api)
    async with connect(api.database) as conn:
        await published(conn, None, slug="otp")

    assert (await api.get(f"{path}/otp")).json()["is_platform"] is True
    assert (await api.put(f"{path}/otp", {"name": "Mine"})).status_code == 404
    assert (await api.delete(f"{path}/otp")).status_code == 404
    copy = await made(api, f"{path}/otp/clone", {})
    assert (copy["is_platform"], copy["published_version"]) == (False, 1)
    assert (await api.post(f"{path}/otp/clone", {})).status_code == 409
    assert [one["id"] for one in (await api.get(path)).json()["data"]] == [copy["id"]]


async def test_parts_are_shared_and_a_version_keeps_those_it_was_made_with(api: Calling) -> None:
    path = await root(api)
    parts = path.replace("templates", "template-parts")
    await api.put(f"{parts}/base", {"kind": "layout", "source": "<p>{% block b %}{% endblock %}"})
    foot = await api.put(f"{parts}/foot", {"source": "first"})
    assert (await api.get(f"{parts}/foot")).json() == foot.json()
    assert (await api.get(f"{parts}/nothing")).status_code == 404
    html = "{% extends 'base' %}{% block b %}{{ FirstName }} {% include 'foot' %}{% endblock %}"
    await made(api, path, {"slug": "framed"})
    await made(api, f"{path}/framed/versions", WORDS | {"html_body": html})

    await api.put(f"{parts}/foot", {"source": "second"})
    assert (await api.delete(f"{parts}/base")).status_code == 204

    assert [one["name"] for one in (await api.get(parts)).json()["data"]] == ["foot"]
    seen = await made(api, f"{path}/framed/preview", {"variables": ANN})
    assert seen["html_body"] == "<p>Ann &lt;3 first"


async def test_another_projects_templates_are_not_there(api: Calling) -> None:
    path = await root(api)
    async with connect(api.database) as conn:
        other = await make.project(conn, "other")
        theirs = await published(conn, other, slug="theirs")

    for method, where in (
        ("get", f"{path}/theirs"),
        ("get", f"{path}/{theirs.id}"),
        ("delete", f"{path}/{theirs.id}"),
        ("get", f"{path}/{theirs.id}/versions"),
        ("get", f"{path}/{theirs.id}/versions/1"),
    ):
        assert (await getattr(api, method)(where)).status_code == 404, where
    assert (await api.post(f"{path}/{theirs.id}/clone", {"slug": "x"})).status_code == 404
    assert (await api.get(path)).json()["data"] == []


async def test_reading_and_writing_need_their_scopes(api: Calling) -> None:
    path = await root(api)
    async with connect(api.database) as conn:
        issued = await issue_key(
            conn, "default", "reader", is_test=False, scopes=[Scope.TEMPLATE_READ]
        )
    key = issued.key.reveal()

    assert (await api.get(path, key)).status_code == 200
    assert (await api.post(path, {"slug": "x"}, key=key)).status_code == 403


async def test_templates_are_listed_by_page_category_status_and_text(api: Calling) -> None:
    path = await root(api)
    for number in range(3):
        await made(api, path, {"slug": f"t{number}", "category": f"c{number}"})
    await made(api, f"{path}/t1/versions", WORDS)

    first = (await api.get(f"{path}?limit=2")).json()
    rest = (await api.get(f"{path}?limit=2&cursor={first['next_cursor']}")).json()

    slugs = [one["slug"] for page in (first, rest) for one in page["data"]]
    assert slugs == ["t0", "t1", "t2"]
    for query, found in (("category=c2", "t2"), ("status=draft", "t1"), ("q=T0", "t0")):
        assert [one["slug"] for one in (await api.get(f"{path}?{query}")).json()["data"]] == [found]
