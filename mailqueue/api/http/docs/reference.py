"""The reference page `/docs`, rendered from the OpenAPI document, with example commands."""

import base64
import hashlib
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from mailqueue.api.http.docs.examples import JsonSchema
from mailqueue.web.beside import PageLinks
from mailqueue.web.rendering import environment
from mailqueue.web.security_headers import security_headers

_HERE = Path(__file__).parent
_DEEPEST = 3
USUAL_ORIGIN = "http://127.0.0.1:8025"
_ORIGIN = re.compile(r"https?://(?:[a-z0-9.-]{1,253}|\[[0-9a-f:]{2,45}\])(?::\d{1,5})?")


@dataclass(frozen=True, slots=True)
class DocumentedField:
    """One row of a list of fields; names of nested fields have dots."""

    name: str
    type: str
    is_needed: bool
    about: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One endpoint, as shown on the page."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    scope: str | None
    is_admins: bool
    parameters: list[DocumentedField]
    body: list[DocumentedField]
    answer_status: str
    answer_about: str
    answer: list[DocumentedField]
    refusals: list[str]
    command: str


@dataclass(frozen=True, slots=True)
class ReferencePage:
    """The page and its headers."""

    html: bytes
    headers: Mapping[str, str]


def reference_page(document: JsonSchema, *, origin: str, beside: PageLinks = ()) -> ReferencePage:
    """Return the page; example commands use `origin` if it is valid, `beside` are other pages."""
    base = origin if _ORIGIN.fullmatch(origin) else USUAL_ORIGIN
    groups: dict[str, list[Operation]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            shown = _operation(document, method.upper(), path, operation, base)
            groups[operation["tags"][0]].append(shown)
    style, script = ((_HERE / "pages" / name).read_text() for name in _INLINE)
    html = _TEMPLATES.get_template("docs/reference.html").render(
        info=document["info"],
        groups={tag: some for tag, some in groups.items() if some},
        refusals=_refusals(document),
        origin=base,
        beside=beside,
        style=style,
        script=script,
    )
    headers = security_headers(
        {
            "style-src": _hash(style),
            "script-src": _hash(script),
            "img-src": "data:",
            "form-action": "'none'",
        },
        Cache_Control="no-cache",
        Referrer_Policy="no-referrer",
    )
    return ReferencePage(html.encode(), headers)


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _operation(
    document: JsonSchema, method: str, path: str, about: JsonSchema, origin: str
) -> Operation:
    schemas = document["components"]["schemas"]
    body = about.get("requestBody", {}).get("content", {}).get("application/json", {})
    status, good = next((s, r) for s, r in about["responses"].items() if s.startswith("2"))
    answer = good.get("content", {}).get("application/json", {})
    is_admins = any("administrator" in each for each in about["security"])
    return Operation(
        id=about["operationId"],
        method=method,
        path=path,
        summary=about["summary"],
        description=about.get("description", "").partition("Needs scope")[0].strip(),
        scope=about.get("x-scope"),
        is_admins=is_admins,
        parameters=[_parameter(each, schemas) for each in about.get("parameters", ())],
        body=list(_fields(body.get("schema", {}), schemas)),
        answer_status=status,
        answer_about=_resolved(answer.get("schema", {}), schemas).get("description", ""),
        answer=[
            replace(field, is_needed=False)  # all fields of a change are optional
            for field in _fields(answer.get("schema", {}), schemas)
        ],
        refusals=[status for status in about["responses"] if status.startswith(("4", "5"))],
        command=_command(method, path, about, example=body.get("example"), origin=origin),
    )


def _parameter(about: JsonSchema, schemas: JsonSchema) -> DocumentedField:
    schema = about["schema"]
    where = {"path": "in the path", "header": "a header"}.get(about["in"], "in the query")
    kind = f"{_type(schema, schemas)}, {where}"
    return DocumentedField(
        about["name"],
        _bounded(kind, schema),
        bool(about.get("required")),
        about.get("description", ""),
    )


def _fields(
    schema: JsonSchema, schemas: JsonSchema, *, before: str = "", depth: int = 0
) -> Iterator[DocumentedField]:
    """Yield the fields of an object, required ones first, and nested fields under dotted names."""
    found = _resolved(schema, schemas)
    if found.get("type") == "array":
        yield from _fields(found.get("items", {}), schemas, before=f"{before}[].", depth=depth)
        return
    needed = found.get("required", ())
    properties = found.get("properties", {})
    for name in sorted(properties, key=lambda name: name not in needed):
        each = properties[name]
        kind = _bounded(_type(each, schemas), each)
        yield DocumentedField(f"{before}{name}", kind, name in needed, each.get("description", ""))
        if depth < _DEEPEST:
            yield from _inside(each, schemas, before=f"{before}{name}", depth=depth + 1)


def _inside(
    schema: JsonSchema, schemas: JsonSchema, *, before: str, depth: int
) -> Iterator[DocumentedField]:
    """Yield the nested fields of a field; fields common to several variants are given once."""
    forms = [found for found in _forms(schema, schemas, before) if "properties" in found[1]]
    seen: set[tuple[str, str]] = set()
    for name, form in forms:
        for field in _fields(form, schemas, before=f"{name}.", depth=depth):
            if (field.name, field.about) not in seen:
                seen.add((field.name, field.about))
                # A field that one form requires another may not have.
                yield replace(field, is_needed=field.is_needed and len(forms) == 1)


def _forms(schema: JsonSchema, schemas: JsonSchema, name: str) -> Iterator[tuple[str, JsonSchema]]:
    """Yield the variants of a field; items of lists are named `a[]`, values of objects `a.*`."""
    for each in schema.get("anyOf", [schema]):
        found = _resolved(each, schemas)
        if "anyOf" in found or "anyOf" in each:
            yield from _forms(found, schemas, name)
        elif found.get("type") == "array":
            yield from _forms(found.get("items", {}), schemas, f"{name}[]")
        elif values := _values(found):
            yield from _forms(values, schemas, f"{name}.*")
        else:
            yield name, found


def _values(schema: JsonSchema) -> JsonSchema:
    """Return the schema of an object's additional properties; {} if it has none."""
    found = next(iter(schema.get("patternProperties", {}).values()), None)
    found = schema.get("additionalProperties") if found is None else found
    return found if isinstance(found, dict) else {}


def _resolved(schema: JsonSchema, schemas: JsonSchema) -> JsonSchema:
    for _ in range(_DEEPEST):
        if "$ref" not in schema:
            break
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    return schema


def _type(schema: JsonSchema, schemas: JsonSchema) -> str:
    """Return a type in a few words."""
    found = _resolved(schema, schemas)
    if "enum" in found:
        return " | ".join(json.dumps(each) for each in found["enum"])
    if "const" in found:
        return json.dumps(found["const"])
    for choice in ("anyOf", "oneOf"):
        if choice in found:
            names = dict.fromkeys(_type(each, schemas) for each in found[choice])
            return " or ".join(names)
    kind = found.get("type", "any")
    if kind == "object" and (values := _type(_values(found), schemas)) != "any":
        return f"object of {_plural(values.removesuffix(' or null'))}"
    if kind == "array":
        return f"list of {_plural(_type(found.get('items', {}), schemas))}"
    if kind == "string" and "format" in found:
        return _WORD_BY_FORMAT.get(found["format"], str(found["format"]))
    return str(kind)


def _plural(kind: str) -> str:
    return f"{kind}s" if kind.isalpha() and kind != "any" else kind


def _bounded(kind: str, schema: JsonSchema) -> str:
    """Return a type with the bounds of its values and its default."""
    schemas = [schema, *schema.get("anyOf", ())]
    parts = [kind]
    for unit, least, most in _BOUNDS:
        low = next((each[least] for each in schemas if each.get(least)), None)
        high = next((each[most] for each in schemas if most in each), None)
        if low is not None and high is not None:
            parts.append(f"{low:,} to {high:,}{unit}")
        elif high is not None:
            parts.append(f"at most {high:,}{unit}")
        elif low is not None and (low > 1 or not unit):
            parts.append(f"at least {low:,}{unit}")
    if schema.get("default") not in (None, [], {}):
        parts.append(f"{json.dumps(schema['default'])} by default")
    return ", ".join(parts)


def _command(
    method: str, path: str, about: Mapping[str, Any], *, example: JsonSchema | None, origin: str
) -> str:
    """Return an example command; the shell needs $API_KEY and the variables of the path."""
    url = re.sub(r"{(\w+)}", lambda found: _variable(found[1]), origin + path)
    is_admins = any("administrator" in each for each in about["security"])
    header = "Authorization: Bearer $ADMIN_TOKEN" if is_admins else "X-API-Key: $API_KEY"
    lines = [f'curl "{url}"' if method == "GET" else f'curl -X {method} "{url}"', f'-H "{header}"']
    if example is not None:
        lines.append("-H 'Content-Type: application/json'")
        written = json.dumps(example, ensure_ascii=False, indent=2)
        lines.append(f"-d {shlex.quote(written)}")
    return " \\\n  ".join(lines)


def _variable(name: str) -> str:
    return "$" + {"pid": "PROJECT"}.get(name, name.upper())


def _refusals(document: JsonSchema) -> dict[str, str]:
    return {
        status: each["description"] for status, each in document["components"]["responses"].items()
    }


_WORD_BY_FORMAT = {"uuid": "id", "password": "secret"}
_BOUNDS = (
    (" characters", "minLength", "maxLength"),
    (" items", "minItems", "maxItems"),
    ("", "minimum", "maximum"),
    ("", "exclusiveMinimum", "exclusiveMaximum"),
)
_INLINE = ("reference.css", "reference.js")


def _coded(text: str) -> Markup:
    """Return escaped HTML in which `words` are shown as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    shown = [
        escape(part) if n % 2 == 0 else Markup("<code>{}</code>").format(part)
        for n, part in enumerate(parts)
    ]
    return Markup("").join(shown)


def _breakable(text: str, behind: str) -> Markup:
    """Return text with a line break opportunity after this character."""
    return Markup("{}<wbr>").format(behind).join(text.split(behind))


_TEMPLATES = environment({"docs": _HERE / "pages"})
_TEMPLATES.filters["coded"] = _coded
_TEMPLATES.filters["breakable"] = _breakable
