"""The section `webhooks` of the OpenAPI document: the requests that endpoints receive."""

from collections.abc import Mapping

from pydantic import TypeAdapter

from mailqueue.api.http.docs.examples import JsonSchema, example_of
from mailqueue.api.http.openapi.titles import REF
from mailqueue.contract.webhooks import WebhookPayload
from mailqueue.webhooks.model import MEANING_BY_TYPE, TEST_TYPE

_MEANINGS: Mapping[str, str] = {
    **{str(kind): words for kind, words in MEANING_BY_TYPE.items()},
    TEST_TYPE: "A test, which `POST /v1/webhooks/{webhook_id}/test` sends.",
}
_HEADERS: Mapping[str, str] = {
    "webhook-id": "Id of the event; the same when it is sent again.",
    "webhook-timestamp": "Time of this attempt, in seconds since 1970.",
    "webhook-signature": "Signatures of the raw body, as in Standard Webhooks: `v1,` and base64, "
    "two while a secret is being replaced.",
}
_RESPONSES: JsonSchema = {
    "2XX": {"description": "The event is delivered."},
    "410": {"description": "The webhook is disabled, its waiting events are cancelled."},
    "default": {"description": "The event is sent again later; after a 429 or 503, as "
                "`Retry-After` says."},
}  # fmt: skip


def payload_schemas() -> Mapping[str, JsonSchema]:
    """Return the schemas of the bodies, by name."""
    found = TypeAdapter(WebhookPayload).json_schema(ref_template=REF, mode="serialization")
    return {**found.pop("$defs"), WebhookPayload.__name__: found}


def webhooks_section(schemas: Mapping[str, JsonSchema]) -> JsonSchema:
    """Return the requests by type of event; `schemas` are those of the document."""
    payload = {"$ref": REF.format(model=WebhookPayload.__name__)}
    example = example_of(payload, schemas)
    assert isinstance(example, dict)
    return {
        kind: {
            "post": {
                "operationId": f"receive_{kind.replace('.', '_')}",
                "summary": meaning.rstrip("."),
                "tags": ["Webhooks"],
                "security": [],
                "parameters": [
                    {
                        "name": name,
                        "in": "header",
                        "required": True,
                        "description": words,
                        "schema": {"type": "string"},
                    }
                    for name, words in _HEADERS.items()
                ],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {"schema": payload, "example": example | {"type": kind}}
                    },
                },
                "responses": _RESPONSES,
            }
        }
        for kind, meaning in _MEANINGS.items()
    }
