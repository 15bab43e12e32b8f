"""Validate template variables by JSON Schema 2020-12, without references to other documents."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import jsonschema_rs

from mailqueue.rendering.faults import TemplateFault

MAX_NODES = 1000
DEEPEST = 20
MAX_WORK = 1_000_000
"""Most units of work of validating the variables of one email: nodes of the schema times values of
the variables, and its patterns and formats times a 16th of their characters. A unit takes a tenth
to half a microsecond.
"""
_CHARACTERS_A_UNIT = 16
_NODES = ""
_READERS = ("pattern", "format", "patternProperties")
"""Keywords that read the characters of texts or names."""
_REPEATED = ("unevaluatedProperties", "unevaluatedItems")
"""Keywords for which the schemas beside them are applied again."""
_LOCAL = "#/$defs/"
# Keywords that refer to other documents, or make a schema recursive.
_REFUSED = ("$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$anchor", "$id")
_DIALECTS = ("https://json-schema.org/draft/2020-12/schema",)
_WHY_CHARACTERS = 300
# Of patterns: an engine without backtracking, with a time linear in the text.
_LINEAR = jsonschema_rs.RegexOptions(size_limit=1 << 20, dfa_size_limit=1 << 20)


class SchemaWeight(NamedTuple):
    """What is applied to one value at most: nodes of the schema, and readers of its characters."""

    nodes: int
    readers: int


class Schema:
    """A checked schema, ready to validate variables."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        """Compile a schema.

        Raises:
            TemplateFault: it is not a schema, too large, or refers to another document.
        """
        self._weight = check_schema(document)
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
        self._check_work(variables)
        try:
            # It ends at the first fault; iter_errors makes a text for each one of a list.
            self._validator.validate(variables)
        except jsonschema_rs.ValidationError as first:
            where = ".".join(map(str, first.instance_path))
            raise TemplateFault(
                _short(first.message), part=f"variables.{where}" if where else "variables"
            ) from None
        except ValueError as exc:  # nested too deeply
            raise TemplateFault(_short(str(exc)), part="variables") from None

    def _check_work(self, variables: Mapping[str, Any]) -> None:
        """Refuse variables that take too much work, counted before it is done."""
        weight, left = self._weight, MAX_WORK
        waiting: list[object] = [variables]
        while waiting:
            at = waiting.pop()
            left -= weight.nodes
            if isinstance(at, str):
                left -= weight.readers * (len(at) // _CHARACTERS_A_UNIT)
            elif isinstance(at, Mapping):
                left -= weight.readers * (sum(map(len, at)) // _CHARACTERS_A_UNIT)
                waiting.extend(at.values())
            elif isinstance(at, list):
                waiting.extend(at)
            if left < 0:
                raise TemplateFault(
                    f"validating them by the schema takes more than {MAX_WORK:,} units of work",
                    part="variables",
                )


def check_schema(document: object) -> SchemaWeight:
    """Return the weight of a schema that is an object, not too large, and refers to no other one.

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
    found = Counter[str]()
    for each in (document, *definitions.values()):
        _walk(each, definitions, (), found)
    times = 2 ** sum(found[name] for name in _REPEATED)
    return SchemaWeight(found[_NODES] * times, sum(found[name] for name in _READERS) * times)


def _walk(
    node: object, definitions: Mapping[str, Any], within: tuple[str, ...], found: Counter[str]
) -> None:
    """Count a schema's nodes and keywords, following its references, so that its expansion is
    bounded.
    """
    stack: list[tuple[object, tuple[str, ...], int]] = [(node, within, 0)]
    while stack:
        at, names, depth = stack.pop()
        found[_NODES] += 1
        if found[_NODES] > MAX_NODES:
            raise _fault(f"may have at most {MAX_NODES} nodes, with references counted each time")
        if depth > DEEPEST:
            raise _fault(f"may be nested at most {DEEPEST} levels deep")
        if isinstance(at, Mapping):
            for refused in _REFUSED:
                if refused in at:
                    raise _fault(f"{refused} is not supported")
            found.update(name for name in _REPEATED if name in at)
            for name in _READERS:
                read = at.get(name)
                found[name] += len(read) if isinstance(read, Mapping) else read is not None
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
