"""Example answers of the OpenAPI document, made from the schemas of the answers. Pure."""

import json
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any

JsonSchema = dict[str, Any]
_GIVEN = json.loads(files(__package__).joinpath("samples.json").read_text("utf-8"))
SAMPLES: Mapping[str, object] = _GIVEN["by_field"]
"""Example value by field; of a list, that of an item."""
SAMPLES_OF_MODELS: Mapping[str, object] = _GIVEN["by_model_and_field"]
"""Example value by schema and field, where another schema has another under that name."""
_NULL = frozenset(_GIVEN["null"])
"""Optional fields that are null in the example."""
_BY_FORMAT = MappingProxyType(
    {
        "uuid": "019e1c2d-4a3b-7e4f-8a9b-0c1d2e3f4a5b",
        "date-time": "2026-05-12T08:00:00Z",
        "date": "2026-05-12",
        "duration": "PT1H",
        "binary": "",
    }
)


def example_of(schema: JsonSchema, components: Mapping[str, JsonSchema]) -> object:
    """Return a value that fits a schema of a JSON answer."""
    return _Maker(components).example(schema, "", "", frozenset())


class _Maker:
    def __init__(self, components: Mapping[str, JsonSchema]) -> None:
        self._components = components

    def example(self, schema: JsonSchema, model: str, field: str, within: frozenset[str]) -> Any:
        """Return a value for a field of a model; `within` are the schemas it stands in."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return self.example(self._components[name], name, field, within | {name})
        named = f"{model}.{field}"
        if named in SAMPLES_OF_MODELS and schema.get("type") not in ("array", "object"):
            return SAMPLES_OF_MODELS[named]
        if "const" in schema:
            return schema["const"]
        for given in ("examples", "enum"):
            if schema.get(given):
                return schema[given][0]
        if "anyOf" in schema:
            return self._of_choice(schema["anyOf"], model, field, within)
        match schema.get("type"):
            case "object":
                return self._object(schema, model, field, within)
            case "array":
                items = schema.get("items", {})
                if self._repeats(items, within):
                    return []
                return [self.example(items, model, field, within)]
            case "string":
                return _text(schema, field)
            case "integer" | "number":
                return _number(schema, field)
            case "boolean":
                return SAMPLES.get(field, True)
            case "null":
                return None
        return SAMPLES.get(field, {})  # any JSON

    def _of_choice(
        self, choices: list[JsonSchema], model: str, field: str, within: frozenset[str]
    ) -> Any:
        is_nullable = {"type": "null"} in choices
        if is_nullable and (field in _NULL or self._repeats(choices[0], within)):
            return None
        return self.example(choices[0], model, field, within)

    def _object(
        self, schema: JsonSchema, model: str, field: str, within: frozenset[str]
    ) -> JsonSchema:
        fields = schema.get("properties", {})
        found = {name: self.example(each, model, name, within) for name, each in fields.items()}
        extra = schema.get("additionalProperties")
        if not fields and isinstance(extra, dict):
            key = "de" if field == "translations" else "sent"
            found = {key: self.example(extra, model, field, within)}
        return found

    def _repeats(self, schema: JsonSchema, within: frozenset[str]) -> bool:
        return schema.get("$ref", "").rpartition("/")[2] in within


def _text(schema: JsonSchema, field: str) -> str:
    known = SAMPLES.get(field)
    if isinstance(known, str) and "format" not in schema:
        return known
    return _BY_FORMAT.get(schema.get("format", ""), field.replace("_", " "))


def _number(schema: JsonSchema, field: str) -> object:
    known = SAMPLES.get(field)
    if isinstance(known, int) or (isinstance(known, float) and schema["type"] == "number"):
        return known
    if field.endswith("_rate"):
        return 0.01
    return max(1, schema.get("minimum", 1))
