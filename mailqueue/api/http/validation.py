"""Validation of requests, at a cost bounded by their size.

pydantic creates an error for every invalid value and every unknown name: for a request with a
million of them it allocates gigabytes, of which twenty are shown. For requests with many values,
unknown names are searched first; the rest is parsed by a validator that stops at the first error of
a list.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import InitErrorDetails, SchemaValidator, from_json

from mailqueue.core.errors import InvalidField
from mailqueue.core.json.size import largest_field, values_in

MAX_VALUES = 500_000
"""Maximum JSON values of one request: a batch to 10,000 recipients with forty variables each."""
MANY_VALUES = 2_000
"""Maximum JSON values of a request that is read directly: that many errors take milliseconds."""
MAX_ITEMS = 20_000
MAX_NAMES = 20_000
"""Maximum items of one list or object in a request of many values, unless the model says less."""
MAX_FAULTS = 20
M = TypeVar("M", bound=BaseModel)
FieldFault = tuple[str, tuple[str | int, ...]]
"""An error: pydantic's name for it, and its path."""


def count_values(body: bytes) -> int:
    """Return the number of JSON values in a body; up to MANY_VALUES it may be too low.

    Raises:
        InvalidField: there are more than MAX_VALUES; names the field that holds them.
    """
    count = values_in(body, few=MANY_VALUES, most=MAX_VALUES)
    if count > MAX_VALUES:
        why = f"holds too many values: at most {MAX_VALUES} are allowed in a request"
        raise InvalidField(largest_field(body), why)
    return count


def validated_json(model: type[M], body: bytes, count: int) -> M:
    """Return a body of `count` values as the model.

    Raises:
        ValidationError: it is invalid; holds at most a few hundred errors.
    """
    if count <= MANY_VALUES:
        return model.model_validate_json(body)
    try:
        document = from_json(body)
    except ValueError:
        return model.model_validate_json(body)  # reports the position
    _refuse_faults(model, document)
    del document
    found: M = _validator_of(model).validate_json(body)
    return found


def validated(model: type[M], document: Any, count: int) -> M:
    """Return a parsed document of `count` values as the model.

    Raises:
        ValidationError: it is invalid; holds at most a few hundred errors.
    """
    if count <= MANY_VALUES:
        return model.model_validate(document)
    _refuse_faults(model, document)
    found: M = _validator_of(model).validate_python(document)
    return found


@lru_cache(maxsize=256)
def _validator_of(model: type[BaseModel]) -> SchemaValidator:
    # The validators that pydantic has built are of the unbounded schemas, and it has no public way
    # to build one without them (2.14). A test counts the errors, so that a change is noticed.
    return SchemaValidator(_bounded(_schema_of(model)), _use_prebuilt=False)


def _schema_of(model: type[BaseModel]) -> Any:
    model.model_rebuild()  # builds what was not used before
    return model.__pydantic_core_schema__


def _bounded(schema: Any) -> Any:
    """Return a schema that stops at the first error of a list and ignores unknown names."""
    if isinstance(schema, list | tuple):
        return type(schema)(map(_bounded, schema))
    if not isinstance(schema, dict):
        return schema
    made = {name: _bounded(value) for name, value in schema.items()}
    match made.get("type"):
        case "list":
            made = {"max_length": MAX_ITEMS, **made, "fail_fast": True}
        case "dict":
            made = {"max_length": MAX_NAMES, **made}
        case "model-fields":
            made["extra_behavior"] = "ignore"
        case "model":
            made["config"] = {**made.get("config", {}), "extra_fields_behavior": "ignore"}
    return made


def _refuse_faults(model: type[BaseModel], document: Any) -> None:
    found = islice(_faults(_schema_of(model), document, {}), MAX_FAULTS)
    errors = [_error(*each) for each in found]
    if errors:
        raise ValidationError.from_exception_data(model.__name__, errors, "json")


def _error(fault: str, path: tuple[str | int, ...]) -> InitErrorDetails:
    if fault != "too_long":
        return {"type": fault, "loc": path, "input": None}
    of = {"field_type": "Dictionary", "max_length": MAX_NAMES, "actual_length": None}
    return {"type": fault, "loc": path, "input": None, "ctx": of}


def _faults(schema: Any, value: Any, named: dict[str, Any]) -> Iterator[FieldFault]:
    """Yield unknown names, and other errors in objects."""
    match schema.get("type"):
        case "definitions":
            known = named | {each["ref"]: each for each in schema["definitions"]}
            yield from _faults(schema["schema"], value, known)
        case "definition-ref":
            yield from _faults(named[schema["schema_ref"]], value, named)
        case "union":
            for choice in schema["choices"]:
                one = choice[0] if isinstance(choice, tuple) else choice
                if _has_names(one) and _fits(one, value):
                    yield from _faults(one, value, named)
        case "list" if isinstance(value, list) and _has_names(schema):
            for place, each in enumerate(value):
                yield from _below(place, _faults(schema["items_schema"], each, named))
        case "dict" if isinstance(value, dict):
            yield from _in_object(schema, value, named)
        case "model-fields" if isinstance(value, dict):
            yield from _in_model(schema["fields"], value, named)
        case "list" | "dict" | "model-fields":
            pass
        case _ if isinstance(schema.get("schema"), dict):
            yield from _faults(schema["schema"], value, named)


def _in_object(schema: Any, value: dict[str, Any], named: dict[str, Any]) -> Iterator[FieldFault]:
    if len(value) > MAX_NAMES:
        yield "too_long", ()
        return
    values = schema["values_schema"]
    if _innermost(values) == "str":
        may_be_null = values.get("type") == "nullable"
        for name, each in value.items():
            if not isinstance(each, str) and not (may_be_null and each is None):
                yield "string_type", (str(name)[:200],)
    elif _has_names(values):
        for name, each in value.items():
            yield from _below(str(name), _faults(values, each, named))


def _in_model(fields: Any, value: dict[str, Any], named: dict[str, Any]) -> Iterator[FieldFault]:
    by_name = {alias: field for name, field in fields.items() for alias in _names(name, field)}
    for name, each in value.items():
        field = by_name.get(name)
        if field is not None:
            yield from _below(name, _faults(field["schema"], each, named))
        elif each is not None:  # null: some models treat it as absent, others refuse it
            yield "extra_forbidden", (str(name)[:200],)


def _names(name: str, field: Any) -> list[str]:
    match field.get("validation_alias"):
        case None:
            return [name]
        case str() as alias:
            return [alias]
        case choices:  # one path of names, or alternatives
            return [path if isinstance(path, str) else path[0] for path in choices]


def _below(part: str | int, faults: Iterator[FieldFault]) -> Iterator[FieldFault]:
    return ((fault, (part, *path)) for fault, path in faults)


def _innermost(schema: Any) -> Any:
    while isinstance(schema.get("schema"), dict):
        schema = schema["schema"]
    return schema.get("type")


def _fits(schema: Any, value: Any) -> bool:
    """Return whether a choice of a union fits a value: a list for lists, others for objects."""
    return isinstance(value, list) if _innermost(schema) == "list" else isinstance(value, dict)


_NAMED = ("model-fields", "definition-ref", "dict")
_KNOWN: dict[int, bool] = {}  # by id: schemas live as long as their models


def _has_names(schema: Any) -> bool:
    """Return whether a schema contains objects."""
    if id(schema) not in _KNOWN:
        _KNOWN[id(schema)] = _found_names(schema)
    return _KNOWN[id(schema)]


def _found_names(schema: Any) -> bool:
    if isinstance(schema, list | tuple):
        return any(map(_found_names, schema))
    if not isinstance(schema, dict):
        return False
    return schema.get("type") in _NAMED or any(map(_found_names, schema.values()))
