"""Validate template variables by JSON Schema 2020-12, without references to other documents."""

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs

from mailqueue.rendering.faults import TemplateFault

MAX_NODES = 1000
DEEPEST = 20
_LOCAL = "#/$defs/"
# Keywords that refer to other documents, or make a schema recursive.
_REFUSED = ("$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$anchor", "$id")
_DIALECTS = ("https://json-schema.org/draft/2020-12/schema",)
_WHY_CHARACTERS = 300
# Of patterns: an engine without backtracking, with a time linear in the text.
_LINEAR = jsonschema_rs.RegexOptions(size_limit=1 << 20, dfa_size_limit=1 << 20)


class Schema:
    """A checked schema, ready to validate variables."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        """Compile a schema.

        Raises:
            TemplateFault: it is not a schema, too large, or refers to another document.
        """
        check_schema(document)
        try:
            self._validator = jsonschema_rs.Draft202012Validator(
                dict(document),
                retriever=_nothing,
                validate_formats=True,
                pattern_options=_LINEAR,
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as exc:
            raise _fault(f"is not a valid JSON Schema: {exc}") from None

    def check(self, variables: Mapping[str, Any]) -> None:
        """Validate variables.

        Raises:
            TemplateFault: naming the first invalid variable.
        """
        try:
            if self._validator.is_valid(variables):
                return
            first = next(self._validator.iter_errors(variables))
        except ValueError as exc:  # nested too deeply
            raise TemplateFault(_short(str(exc)), part="variables") from None
        where = ".".join(map(str, first.instance_path))
        raise TemplateFault(
            _short(first.message), part=f"variables.{where}" if where else "variables"
        )


def check_schema(document: object) -> None:
    """Refuse a schema that is not an object, is too large, or refers to another document.

    Raises:
        TemplateFault: naming the fault.
    """
    if not isinstance(document, Mapping):
        raise _fault("must be an object")
    if document.get("type", "object") != "object":
        raise _fault("must describe an object: its type must be object")
    if document.get("$schema", _DIALECTS[0]).rstrip("#") not in _DIALECTS:
        raise _fault(f"must be {_DIALECTS[0]}")
    definitions = document.get("$defs", {})
    if not isinstance(definitions, Mapping):
        raise _fault("$defs must be an object")
    left = [MAX_NODES]
    for each in (document, *definitions.values()):
        _walk(each, definitions, (), left)


def _walk(
    node: object, definitions: Mapping[str, Any], within: tuple[str, ...], left: list[int]
) -> None:
    """Count a schema's nodes, following its references, so that its expansion is bounded."""
    stack: list[tuple[object, tuple[str, ...], int]] = [(node, within, 0)]
    while stack:
        at, names, depth = stack.pop()
        left[0] -= 1
        if left[0] < 0:
            raise _fault(f"may have at most {MAX_NODES} nodes, with references counted each time")
        if depth > DEEPEST:
            raise _fault(f"may be nested at most {DEEPEST} levels deep")
        if isinstance(at, Mapping):
            for refused in _REFUSED:
                if refused in at:
                    raise _fault(f"{refused} is not supported")
            if "$ref" in at:
                stack.append((*_referred(at["$ref"], definitions, names), depth + 1))
        stack.extend((child, names, depth + 1) for child in _children(at))


def _referred(
    target: object, definitions: Mapping[str, Any], names: tuple[str, ...]
) -> tuple[object, tuple[str, ...]]:
    name = target.removeprefix(_LOCAL) if isinstance(target, str) else ""
    if not isinstance(target, str) or not target.startswith(_LOCAL) or name not in definitions:
        raise _fault(f"$ref must name one of its own {_LOCAL}…, got {str(target)[:100]!r}")
    if name in names:
        raise _fault(f"{target[:100]} refers to itself")
    return definitions[name], (*names, name)


def _children(node: object) -> Iterator[object]:
    if isinstance(node, Mapping):
        yield from (value for key, value in node.items() if key != "$defs")
    elif isinstance(node, list):
        yield from node


def _nothing(uri: str) -> Any:
    raise ValueError(f"{uri[:100]} is not fetched")


def _fault(why: str) -> TemplateFault:
    return TemplateFault(_short(why), part="variables_schema")


def _short(text: str) -> str:
    plain = "".join(char if char.isprintable() else " " for char in text)
    return plain if len(plain) <= _WHY_CHARACTERS else plain[: _WHY_CHARACTERS - 1] + "…"
