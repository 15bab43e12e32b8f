"""The API's documents: OpenAPI for programs, and the reference page."""

import json
import shlex
from typing import Any

import jsonschema_rs
import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from mailqueue.api.http.docs.reference import USUAL_ORIGIN, reference_page
from mailqueue.api.http.endpoint import Endpoint, Once
from mailqueue.api.http.openapi.document import operation_id
from mailqueue.api.http.origin import origin_of
from mailqueue.api.table import ENDPOINTS
from tests.api.support.calling import HELLO, Calling
from tests.api.support.document import DOCUMENT

BODIES = [each for each in ENDPOINTS if each.request is not None]


def models(found: Any) -> set[type[BaseModel]]:
    """Return a model and those in its fields."""
    seen: set[type[BaseModel]] = set()
    waiting = [found]
    while waiting:
        each = waiting.pop()
        if isinstance(each, type) and issubclass(each, BaseModel):
            if each not in seen:
                seen.add(each)
                waiting += [field.annotation for field in each.model_fields.values()]
        else:
            waiting += getattr(each, "__args__", ())
    return seen


def test_every_endpoint_is_described() -> None:
    described = {
        (method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods
    }

    assert described == {(each.method, each.path) for each in ENDPOINTS}


def test_names_of_operations_are_their_own() -> None:
    names = [operation_id(each) for each in ENDPOINTS]

    assert sorted(set(names)) == sorted(names)


def test_no_two_schemas_have_to_be_told_apart_by_where_they_are_written() -> None:
    assert [name for name in DOCUMENT["components"]["schemas"] if "__" in name or "-" in name] == []


def test_every_reference_leads_somewhere() -> None:
    waiting: list[Any] = [DOCUMENT]
    while waiting:
        match waiting.pop():
            case {"$ref": str() as path}:
                found: Any = DOCUMENT
                for part in path.removeprefix("#/").split("/"):
                    found = found[part]
            case dict() as fields:
                waiting += fields.values()
            case list() as some:
                waiting += some


def test_every_schema_is_one() -> None:
    for name, schema in DOCUMENT["components"]["schemas"].items():
        assert jsonschema_rs.meta.is_valid(
            {**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"}
        ), name


def test_unknown_fields_are_refused_everywhere() -> None:
    loose = [
        f"{operation_id(endpoint)}: {model.__name__}"
        for endpoint in BODIES
        for model in models(endpoint.request)
        if model.model_config.get("extra") != "forbid"
    ]

    assert loose == [], "\n".join(loose)


def undescribed(schema: Any, at: str) -> list[str]:
    """Return the fields of a schema that have no description."""
    found = []
    match schema:
        case {"$ref": str() as path}:
            inner = DOCUMENT["components"]["schemas"][path.rpartition("/")[2]]
            found += undescribed(inner, at)
        case dict():
            fields = schema.get("properties", {})
            for name, field in fields.items():
                about = field.get("description", "")
                if not about.endswith(".") or about != about.strip():
                    found.append(f"{at}.{name}")
                found += undescribed(field, f"{at}.{name}")
            for name, part in schema.items():
                if name not in ("properties", "default", "examples"):
                    found += undescribed(part, at)
        case list():
            for part in schema:
                found += undescribed(part, at)
    return found


def undescribed_of(endpoint: Endpoint) -> list[str]:
    """Return the fields and parameters of an endpoint that have no description."""
    operation = DOCUMENT["paths"][endpoint.path][endpoint.method.lower()]
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    parameters = {each["name"]: each for each in operation.get("parameters", ())}
    return undescribed(schema, "body") + undescribed({"properties": parameters}, "")


def test_every_field_and_parameter_says_its_use() -> None:
    faults = [
        f"{operation_id(endpoint)}: {name}"
        for endpoint in ENDPOINTS
        for name in undescribed_of(endpoint)
    ]

    assert faults == [], "\n".join(faults)


def test_fields_that_are_needed_come_first() -> None:
    html = reference_page(DOCUMENT, origin=USUAL_ORIGIN).html.decode()
    send = html.partition('<article id="post_send">')[2].partition("</article>")[0]
    body = send.partition("<h4>Body</h4>")[2].partition("</dl>")[0]
    is_needed = ["<b>needed</b>" in each for each in body.split("<dt>")[1:] if "<wbr>" not in each]

    assert is_needed.count(True) == 2
    assert is_needed == sorted(is_needed, reverse=True)


def test_unknown_parameters_are_refused_everywhere() -> None:
    loose = [
        operation_id(endpoint)
        for endpoint in ENDPOINTS
        if endpoint.query and endpoint.query.model_config.get("extra") != "forbid"
    ]

    assert loose == [], "\n".join(loose)


def fault_of_example(endpoint: Endpoint) -> str | None:
    """Return why the example of a body is refused."""
    assert endpoint.request is not None
    example = {} if endpoint.example is None else endpoint.example  # nothing need be said
    try:
        TypeAdapter(endpoint.request).validate_json(json.dumps(example))
    except (TypeError, ValidationError) as error:
        return str(error)
    return None


def test_every_body_has_an_example_that_is_taken() -> None:
    faults = [
        f"{operation_id(endpoint)}: {fault}"
        for endpoint in BODIES
        if (fault := fault_of_example(endpoint)) is not None
    ]

    assert faults == [], "\n".join(faults)


def test_endpoints_of_keys_and_of_administrators_are_told_apart() -> None:
    for endpoint in ENDPOINTS:
        assert endpoint.superadmin == endpoint.path.startswith("/admin/"), endpoint.path
        assert endpoint.path.startswith(("/admin/", "/v1/"))
        assert not (endpoint.superadmin and endpoint.scope), "administrators have no scopes"
        assert endpoint.method == "POST" or endpoint.once_is is Once.NEVER, endpoint.path


def test_the_page_shows_every_endpoint_and_a_command_for_it() -> None:
    html = reference_page(DOCUMENT, origin=USUAL_ORIGIN).html.decode()

    for endpoint in ENDPOINTS:
        assert f'id="{operation_id(endpoint)}"' in html


def test_pages_beside_it_are_linked() -> None:
    html = reference_page(
        DOCUMENT, origin=USUAL_ORIGIN, beside=[("Console", "/console")]
    ).html.decode()
    alone = reference_page(DOCUMENT, origin=USUAL_ORIGIN).html.decode()

    assert '<a href="/console">Console</a>' in html
    assert "Elsewhere" not in alone


def test_commands_can_be_pasted() -> None:
    html = reference_page(DOCUMENT, origin="https://mail.example.com").html.decode()
    send = html.partition('<article id="post_send">')[2].partition('<pre class="command"><code>')[2]
    command = send.partition("</code>")[0]
    for name, text in (("<wbr>", ""), ("&#34;", '"'), ("&#39;", "'"), ("&amp;", "&")):
        command = command.replace(name, text)

    words = [word for word in shlex.split(command) if word != "\n"]
    assert words[:4] == ["curl", "-X", "POST", "https://mail.example.com/v1/send"]
    assert words[5] == "X-API-Key: $API_KEY"
    example = json.loads(words[-1])
    assert "to" in example


@pytest.mark.parametrize(
    "origin", ['http://x"><script>', "ftp://a", "", "http://a/b", "http://a b"]
)
def test_a_host_that_is_none_is_not_shown(origin: str) -> None:
    html = reference_page(DOCUMENT, origin=origin).html.decode()

    assert USUAL_ORIGIN in html
    assert not origin or origin not in html


@pytest.mark.anyio
async def test_both_are_served_without_a_key(shared_api: Calling) -> None:
    document = await shared_api.http.get("/openapi.json")
    page = await shared_api.http.get("/docs")

    assert document.json() == json.loads(json.dumps(DOCUMENT))
    assert page.headers["content-type"].startswith("text/html")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert policy.count("'sha256-") == 2
    for outside in ("https://", "http://", "src=", "@import", "url("):
        shown = page.text.replace(f"http://{'127.0.0.1:8025'}", "").replace("http://www.w3.org", "")
        assert outside not in shown


@pytest.mark.parametrize("path", ["/v1/emails/", "/docs/"])
@pytest.mark.anyio
async def test_a_slash_too_many_leads_to_the_path_and_to_no_other_host(
    shared_api: Calling, path: str
) -> None:
    head = {"Host": "evil.example", "X-API-Key": shared_api.key}

    answer = await shared_api.http.get(f"{path}?limit=1", headers=head)

    assert answer.status_code == 307
    assert answer.headers["location"] == f"{path.rstrip('/')}?limit=1"


@pytest.mark.anyio
async def test_no_answer_repeats_a_host_of_the_client(shared_api: Calling) -> None:
    file = {"filename": "a.pdf", "content": "JVBERi0xLjc=", "content_type": "application/pdf"}
    sent = await shared_api.send({**HELLO, "attachments": [file]})
    email = sent.json()["id"]
    asked = [each.path.replace("{email_id}", email) for each in ENDPOINTS if each.method == "GET"]
    told = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-API-Key": shared_api.key}
    told["Authorization"] = f"Bearer {shared_api.key}"
    paths = [path.replace("{pid}", "default") for path in asked]

    for path in [*paths, "/docs", "/openapi.json", f"/emails/{email}/attachments", "/docs/", "/x"]:
        answer = await shared_api.http.get(path, headers=told)
        assert "evil.example" not in answer.text + str(answer.headers), path
        if path.endswith("/attachments"):
            assert answer.json()["data"][0]["download_url"].startswith("http://127.0.0.1:8025/")


def test_urls_have_the_public_origin_else_that_of_the_socket() -> None:
    assert origin_of({"server": ("10.0.0.7", 8025)}, None) == "http://10.0.0.7:8025"
    assert origin_of({"server": ("::1", 80)}, None) == "http://[::1]:80"
    assert origin_of({"server": ("::1", 80)}, "https://mail.example.com") == (
        "https://mail.example.com"
    )


@pytest.mark.parametrize("path", ["/nothing/", "//evil.example/v1/emails/", "//evil.example/"])
@pytest.mark.anyio
async def test_an_unknown_link_redirects_nowhere(shared_api: Calling, path: str) -> None:
    answer = await shared_api.http.get(f"http://127.0.0.1:8025{path}")

    assert answer.status_code == 404
