"""Schemas of the OpenAPI document: names are unique, and examples match their schemas."""

import json
from typing import Any

import jsonschema_rs
import pytest
from pydantic import BaseModel

from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.openapi.document import add_schemas, openapi, operation_id
from mailqueue.api.table import ENDPOINTS
from mailqueue.webhooks.model import TEST_TYPE, EventType
from tests.api.support.document import DOCUMENT

ANSWERING = [each for each in ENDPOINTS if each.response is not None]


def shown(endpoint: Endpoint) -> tuple[dict[str, Any], object]:
    """Return the schema of an answer in JSON, and its example.

    Raises:
        KeyError: one of them is missing.
    """
    operation = DOCUMENT["paths"][endpoint.path][endpoint.method.lower()]
    content = operation["responses"][str(int(endpoint.status))]["content"]["application/json"]
    name = content["examples"]["answer"]["$ref"].removeprefix("#/components/examples/")
    example: object = DOCUMENT["components"]["examples"][name]["value"]
    return content["schema"] | {"components": DOCUMENT["components"]}, example


def fault_of_example(endpoint: Endpoint) -> str | None:
    """Return why the example of an answer does not fit its schema, or what of them is missing."""
    try:
        schema, example = shown(endpoint)
        validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
        validator.validate(json.loads(json.dumps(example)))
    except (KeyError, TypeError, jsonschema_rs.ValidationError) as error:
        return repr(error)
    return "any object fits" if validator.is_valid({"of": "another schema"}) else None


def test_every_answer_in_json_has_an_example_that_fits_its_schema() -> None:
    faults = [
        f"{operation_id(endpoint)}: {fault}"
        for endpoint in ANSWERING
        if (fault := fault_of_example(endpoint)) is not None
    ]

    assert faults == [], "\n".join(faults)


def test_two_schemas_of_one_name_are_refused() -> None:
    class Query(BaseModel):
        class Inner(BaseModel):
            one: int

        inner: Inner

    class Same(BaseModel):
        class Inner(BaseModel):
            two: str

        inner: Inner

    async def nothing(_call: object) -> None: ...

    def listed(path: str, query: type[BaseModel]) -> Endpoint:
        return Endpoint("GET", path, None, "List.", nothing, query=query)

    assert openapi([listed("/v1/a", Query), listed("/v1/b", Query)])
    with pytest.raises(ValueError, match="two different schemas are named Inner"):
        openapi([listed("/v1/a", Query), listed("/v1/b", Same)])
    with pytest.raises(ValueError, match="two different schemas are named Error"):
        add_schemas({"Error": {"type": "object"}}, {"Error": {"type": "string"}})


def test_the_title_of_a_schema_is_its_name() -> None:
    for name, schema in DOCUMENT["components"]["schemas"].items():
        assert schema["title"] == name


def test_every_event_of_webhooks_has_its_request() -> None:
    assert set(DOCUMENT["webhooks"]) == {*EventType, TEST_TYPE}
    ids = [one["post"]["operationId"] for one in DOCUMENT["webhooks"].values()]
    ids += [operation_id(endpoint) for endpoint in ENDPOINTS]
    assert len(set(ids)) == len(ids)
    for kind, methods in DOCUMENT["webhooks"].items():
        content = methods["post"]["requestBody"]["content"]["application/json"]
        assert content["example"]["type"] == kind
        schema = content["schema"] | {"components": DOCUMENT["components"]}
        check = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
        check.validate(content["example"])
        assert not check.is_valid({"type": kind})
