"""The OpenAPI 3.1 document, generated from the endpoint table and its models."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter

import mailqueue
from mailqueue.api.http.docs.examples import JsonSchema, example_of
from mailqueue.api.http.endpoint import Endpoint, Once
from mailqueue.api.http.openapi.path_variables import ABOUT_BY_VARIABLE, UUIDS
from mailqueue.api.http.openapi.titles import EXAMPLES, REF, with_titles
from mailqueue.api.http.openapi.webhooks import payload_schemas, webhooks_section

INTRODUCTION = (
    "Send emails and track their delivery. Every request needs a key in `X-API-Key` or "
    "`Authorization: Bearer`. All errors have the schema Error. The header `RateLimit` gives the "
    "requests left. A POST with an `Idempotency-Key` takes effect once within 24 hours."
)
_REQUEST_ID = "Request id; quote it when you report a problem, it is in the server's log."
ERROR: JsonSchema = {
    "type": "object",
    "required": ["statusCode", "name", "message", "request_id"],
    "properties": {
        "statusCode": {
            "type": "integer",
            "description": "HTTP status of the response.",
            "examples": [422],
        },
        "name": {
            "type": "string",
            "description": "Error code for programs, such as `invalid_field`.",
            "examples": ["invalid_field"],
        },
        "message": {
            "type": "string",
            "description": "Error message.",
            "examples": ["to.0: is not an address"],
        },
        "field": {"type": "string", "description": "Name of the first invalid field."},
        "violations": {
            "type": "array",
            "description": "All errors found in the body or query.",
            "items": {
                "type": "object",
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
            },
        },
        "needed": {
            "type": "string",
            "description": "Permission that the key lacks, such as scope email:send.",
        },
        "request_id": {
            "type": ["string", "null"],
            "description": _REQUEST_ID,
        },
    },
}
WHY_BY_STATUS: Mapping[int, str] = {
    400: "The body is not a JSON object.",
    401: "Key or token is missing, unknown, revoked or expired.",
    403: "The key lacks the scope, or the token lacks the role, named by `needed`.",
    404: "The resource does not exist in the key's project.",
    409: "The request conflicts with existing data.",
    413: "The body is too large.",
    415: "The body is not JSON, or is compressed.",
    422: "A field or parameter is invalid; `field` names it.",
    429: "A rate limit or quota is exceeded; retry after `Retry-After` seconds.",
    503: "The database is unavailable or full; retry after `Retry-After` seconds.",
}
IDEMPOTENCY_KEY: JsonSchema = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "Idempotency key: requests with the same key within 24 hours take effect once.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}


def openapi(endpoints: Sequence[Endpoint]) -> JsonSchema:
    """Return the document.

    Raises:
        ValueError: two different schemas have one name.
    """
    schemas, shared = _schemas(endpoints)
    components: JsonSchema = {"Error": ERROR}
    add_schemas(components, shared)
    add_schemas(components, payload_schemas())
    paths: dict[str, JsonSchema] = {}
    for endpoint in endpoints:
        operation = _operation(endpoint, schemas, components)
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "mailqueue",
            "version": mailqueue.__version__,
            "description": INTRODUCTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": tag} for tag in dict.fromkeys(each.tag for each in endpoints)],
        "paths": paths,
        "webhooks": webhooks_section(components),
        "components": {
            "schemas": components,
            "examples": {
                _name_of(answer): {"value": example_of(answer, components)}
                for (_, _, way), answer in schemas.items()
                if way == "out"
            },
            "responses": {str(status): _error(why) for status, why in WHY_BY_STATUS.items()},
            "headers": _HEADERS,
            "securitySchemes": _SECURITY,
        },
    }
    return with_titles(document)


def _schemas(endpoints: Sequence[Endpoint]) -> tuple[Mapping[Any, JsonSchema], JsonSchema]:
    """Return the schemas of each endpoint's body and response, and all they refer to."""
    adapters = []
    for number, endpoint in enumerate(endpoints):
        if endpoint.request is not None:
            adapters.append(((number, "in"), "validation", TypeAdapter(endpoint.request)))
        if endpoint.response is not None:
            adapters.append(((number, "out"), "serialization", TypeAdapter(endpoint.response)))
    found, shared = TypeAdapter.json_schemas(adapters, ref_template=REF)  # type: ignore[arg-type]
    by_endpoint = {
        (endpoints[number].method, endpoints[number].path, way): schema
        for ((number, way), _), schema in found.items()
    }
    return by_endpoint, shared.get("$defs", {})


def add_schemas(components: JsonSchema, more: Mapping[str, JsonSchema]) -> None:
    """Add schemas to those of the document, by name.

    Raises:
        ValueError: the document has another schema of that name.
    """
    for name, schema in more.items():
        if components.setdefault(name, schema) != schema:
            raise ValueError(f"two different schemas are named {name}: rename one of the classes")


def _name_of(schema: JsonSchema) -> str:
    name: str = schema["$ref"].rpartition("/")[2]
    return name


def _operation(
    endpoint: Endpoint, schemas: Mapping[Any, JsonSchema], components: JsonSchema
) -> JsonSchema:
    at = (endpoint.method, endpoint.path)
    parameters = [*_path_parameters(endpoint), *_query_parameters(endpoint.query, components)]
    if endpoint.method == "POST" and endpoint.once_is is not Once.NEVER:
        parameters.append(IDEMPOTENCY_KEY)
    operation: JsonSchema = {
        "operationId": operation_id(endpoint),
        "summary": endpoint.summary.rstrip("."),
        "tags": [endpoint.tag],
        "security": [{"administrator": []}]
        if endpoint.superadmin
        else [{"key": []}, {"bearer": []}],
        "responses": _responses(endpoint, schemas.get((*at, "out"))),
    }
    if endpoint.description or endpoint.scope is not None:
        operation["description"] = _described(endpoint)
    if endpoint.scope is not None:
        operation["x-scope"] = str(endpoint.scope)
    if parameters:
        operation["parameters"] = parameters
    if endpoint.request is not None:
        content: JsonSchema = {"schema": schemas[(*at, "in")]}
        if endpoint.example is not None:
            content["example"] = endpoint.example
        operation["requestBody"] = {"required": True, "content": {"application/json": content}}
    return operation


def operation_id(endpoint: Endpoint) -> str:
    """Return the operation id of an endpoint, made from method and path."""
    words = re.sub(r"[^a-z0-9]+", "_", endpoint.path.lower().removeprefix("/v1")).strip("_")
    return f"{endpoint.method.lower()}_{words}"


def _described(endpoint: Endpoint) -> str:
    scope = f"Needs scope `{endpoint.scope}`." if endpoint.scope is not None else ""
    return " ".join(part for part in (endpoint.description, scope) if part)


def _path_parameters(endpoint: Endpoint) -> list[JsonSchema]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": ABOUT_BY_VARIABLE[name],
            "schema": {"type": "string", **({"format": "uuid"} if name in UUIDS else {})},
        }
        for name in re.findall(r"{(\w+)}", endpoint.path)
    ]


def _query_parameters(model: type[BaseModel] | None, components: JsonSchema) -> list[JsonSchema]:
    if model is None:
        return []
    schema = model.model_json_schema(ref_template=REF)
    add_schemas(components, schema.get("$defs", {}))
    needed = schema.get("required", ())
    return [
        {
            "name": name,
            "in": "query",
            "required": name in needed,
            "description": each.pop("description", ""),
            "schema": each,
        }
        for name, each in schema.get("properties", {}).items()
    ]


def _responses(endpoint: Endpoint, answer: JsonSchema | None) -> JsonSchema:
    good: JsonSchema = {"description": endpoint.summary, "headers": _SENT_HEADERS}
    if answer is not None:
        example = {"$ref": f"{EXAMPLES}{_name_of(answer)}"}
        content = {"schema": answer, "examples": {"answer": example}}
        good["content"] = {"application/json": content}
    statuses = {401, 429, 503}
    if endpoint.scope is not None or endpoint.superadmin:
        statuses.add(403)
    if "{" in endpoint.path:
        statuses.add(404)
    if endpoint.method != "GET":
        statuses.add(409)
    if endpoint.request is not None:
        statuses |= {400, 413, 415, 422}
    if endpoint.query is not None or endpoint.method != "DELETE":
        statuses.add(422)
    errors = {
        str(status): {"$ref": f"#/components/responses/{status}"} for status in sorted(statuses)
    }
    return {str(int(endpoint.status)): good, **errors, "default": _error("Any other error.")}


def _error(why: str) -> JsonSchema:
    schema = {"$ref": "#/components/schemas/Error"}
    return {
        "description": why,
        "headers": {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}},
        "content": {"application/json": {"schema": schema}},
    }


_HEADERS: JsonSchema = {
    "X-Request-Id": {
        "description": _REQUEST_ID,
        "schema": {"type": "string"},
    },
    "RateLimit": {
        "description": 'Requests left, and seconds until the limit resets: `"key";r=99;t=1`.',
        "schema": {"type": "string"},
    },
    "RateLimit-Policy": {
        "description": 'Requests allowed per window, and window in seconds: `"key";q=100;w=10`.',
        "schema": {"type": "string"},
    },
}
_SENT_HEADERS: JsonSchema = {name: {"$ref": f"#/components/headers/{name}"} for name in _HEADERS}
_SECURITY: JsonSchema = {
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "bearer": {"type": "http", "scheme": "bearer", "description": "The API key."},
    "administrator": {
        "type": "http",
        "scheme": "bearer",
        "description": "Token from `mailqueue admin add`, or from the OIDC issuer.",
    },
}
