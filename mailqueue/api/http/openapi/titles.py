"""Names of schemas in the OpenAPI document: each has one, and it is its title. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from mailqueue.api.http.docs.examples import JsonSchema

REF = "#/components/schemas/{model}"
EXAMPLES = "#/components/examples/"
_PAGE = re.compile(r"^Page_(\w+)_$")


def with_titles(document: JsonSchema) -> JsonSchema:
    """Return the document with the name of each schema as its title; `Page_Event_` is `EventPage`.

    Generators name the classes of clients by titles, and keep one of two classes of one name.
    """
    schemas = document["components"]["schemas"]
    better = {name: _PAGE.sub(r"\1Page", name) for name in schemas}
    by_ref = {
        root + old: root + new
        for root in (REF.format(model=""), EXAMPLES)
        for old, new in better.items()
    }
    renamed: JsonSchema = _renamed(document, by_ref)
    parts = renamed["components"]
    parts["schemas"] = {
        better[name]: {**schema, "title": better[name]} for name, schema in parts["schemas"].items()
    }
    parts["examples"] = {better[name]: example for name, example in parts["examples"].items()}
    return renamed


def _renamed(value: Any, by_ref: Mapping[str, str]) -> Any:
    match value:
        case {"$ref": str() as ref}:
            return {**value, "$ref": by_ref.get(ref, ref)}
        case dict():
            return {name: _renamed(item, by_ref) for name, item in value.items()}
        case list():
            return [_renamed(item, by_ref) for item in value]
    return value
