"""The variables that a schema allows, and the schemas that are allowed."""

from typing import Any

import pytest

from mailqueue.rendering.faults import TemplateFault
from mailqueue.rendering.schema import Schema

SCHEMA = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "maxLength": 5},
        "url": {"type": "string", "format": "uri"},
        "day": {"type": "string", "format": "date"},
        "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
    },
    "$defs": {"item": {"type": "object", "required": ["price"]}},
}


@pytest.mark.parametrize(
    ("variables", "part"),
    [
        ({}, "variables"),
        ({"name": 3}, "variables.name"),
        ({"name": "too long"}, "variables.name"),
        ({"name": "a", "more": 1}, "variables"),
        ({"name": "a", "url": "no address"}, "variables.url"),
        ({"name": "a", "day": "2030-02-31"}, "variables.day"),
        ({"name": "a", "items": [{"price": 1}, {}]}, "variables.items.1"),
    ],
)
def test_the_first_variable_that_does_not_fit_is_named(
    variables: dict[str, Any], part: str
) -> None:
    schema = Schema(SCHEMA)
    schema.check({"name": "a", "url": "https://example.com/", "items": [{"price": 1}]})

    with pytest.raises(TemplateFault) as caught:
        schema.check(variables)

    assert caught.value.part == part
    assert "\n" not in caught.value.why


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ([], "must be an object"),
        ({"type": "string"}, "must describe an object: its type must be object"),
        ({"$schema": "http://json-schema.org/draft-04/schema#"}, "must be https://json-schema.org/draft/2020-12/schema"),
        ({"properties": {"a": {"type": "texst"}}}, "is not a valid JSON Schema"),
        ({"properties": {"a": {"$ref": "https://example.com/s.json"}}},
         "$ref must name one of its own"),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "$ref must name one of its own"),
        ({"properties": {"a": {"$ref": "#"}}}, "$ref must name one of its own"),
        ({"$id": "https://example.com/"}, "$id is not supported"),
        ({"$dynamicRef": "#a"}, "$dynamicRef is not supported"),
        ({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}}, "#/$defs/a refers to itself"),
        ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "refers to itself"),
        ({"properties": {"a": {"pattern": "(a"}}}, "is not a valid JSON Schema"),
        ({"properties": {f"p{n}": {} for n in range(2000)}}, "may have at most 1000 nodes"),
        ({"properties": {"a": {"type": "string", "pattern": "(a{1,9999}){1,9999}"}}},
         "is not a valid JSON Schema"),
    ],
)  # fmt: skip
def test_schemas_that_reach_out_or_grow_without_end_are_refused(document: Any, why: str) -> None:
    with pytest.raises(TemplateFault) as caught:
        Schema(document)

    assert caught.value.part == "variables_schema"
    assert why in caught.value.why


def test_what_doubles_by_references_is_counted_as_often_as_it_is_read() -> None:
    """A few lines that a validator would evaluate ten thousand times."""
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for n in range(1, 5):
        definitions[f"d{n}"] = {"anyOf": [{"$ref": f"#/$defs/d{n - 1}"}] * 10}

    with pytest.raises(TemplateFault, match="with references counted each time"):
        Schema({"properties": {"a": {"$ref": "#/$defs/d4"}}, "$defs": definitions})


def test_a_pattern_never_looks_back() -> None:
    """A backtracking engine would take quadratic time or more."""
    schema = Schema({"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}})

    with pytest.raises(TemplateFault):
        schema.check({"a": "a" * 50_000 + "!"})


def test_validating_variables_is_counted_before_it_is_done() -> None:
    patterns = [{"pattern": f"^x{n}.*y"} for n in range(400)]
    dear = Schema({"properties": {"a": {"items": {"anyOf": patterns}}}})
    long = Schema({"properties": {"a": {"allOf": patterns}}})
    repeated: dict[str, Any] = {}
    for _ in range(8):
        repeated = {"allOf": [repeated], "unevaluatedProperties": {"type": "string"}}
    again = Schema({"properties": {"a": repeated}})
    usual = Schema({"properties": {f"text_{n}": {"type": "string"} for n in range(100)}})

    usual.check({"text_1": "x" * 2_000_000} | {f"text_{n}": "x" for n in range(2, 100)})
    for schema, value in (
        (dear, ["x"] * 2_000),
        (long, "x" * 100_000),
        (again, {f"name_{n}": "x" for n in range(1_000)}),
    ):
        with pytest.raises(TemplateFault, match="takes more than 1,000,000 units of work"):
            schema.check({"a": value})


def test_a_list_of_faults_is_read_to_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Schema({"properties": {"a": {"items": {"type": "string"}}}})
    asked = list[str]()

    class _Validator:
        """Notes what is asked of the validator."""

        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            return getattr(validator, name)

    validator = schema._validator
    monkeypatch.setattr(schema, "_validator", _Validator())
    with pytest.raises(TemplateFault) as caught:
        schema.check({"a": [1] * 100})

    assert (caught.value.part, asked) == ("variables.a.0", ["validate"])
