"""Schemas of forms: the fields that a page shows, and the values or errors that a form gives."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from mailqueue.web.described import DescribedModel, describe

_LENGTH = re.compile(r"Value should have at (least|most) (\d+) items? after validation, not (\d+)")
"""What pydantic says of a text that is too short or too long."""
_WHY_BY_FAULT = {"missing": "is needed", "extra_forbidden": "there is no such field"}


class FormSchema(DescribedModel):
    """The fields of a form, in their order.

    The first line of the docstring of a field is its label, the others explain it. An empty field
    is one that was not given.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, str_strip_whitespace=True)


@dataclass(frozen=True, slots=True)
class TextLines:
    """Marks a text of several lines."""


@dataclass(frozen=True, slots=True)
class SecretText:
    """Marks a password, which is never shown again."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Words for people of the values of a field."""

    words: Mapping[str, str]


class FieldKind(StrEnum):
    """How a field is shown."""

    TEXT = "text"
    LINES = "area"
    NUMBER = "number"
    DAY = "date"
    CHOICE = "choice"
    CHECK = "check"
    SECRET = "password"  # noqa: S105


@dataclass(frozen=True, slots=True)
class SchemaField:
    """A field as a page shows it; `longest` in characters."""

    name: str
    label: str
    hint: str
    kind: FieldKind
    is_needed: bool
    longest: int | None
    choices: tuple[tuple[str, str], ...]


Form = TypeVar("Form", bound=FormSchema)


def fields_of(schema: type[FormSchema]) -> tuple[SchemaField, ...]:
    """Return the fields of a schema."""
    describe(schema)
    return tuple(_field(name, field) for name, field in schema.model_fields.items())


def typed_of(schema: type[FormSchema], form: Mapping[str, str]) -> dict[str, str]:
    """Return what was typed into each field, else its default."""
    return {
        name: form[name] if name in form else _text(field.get_default())
        for name, field in schema.model_fields.items()
    }


def read_as(schema: type[Form], form: Mapping[str, str]) -> tuple[Form | None, dict[str, str]]:
    """Return the values of a form, or None and what is wrong by the name of the field."""
    given = {name: form[name] for name in schema.model_fields if form.get(name, "").strip()}
    try:
        return schema.model_validate(given), {}
    except ValidationError as exc:
        found = exc.errors(include_url=False, include_context=False)
        return None, {
            str(each["loc"][0]): why_invalid(
                each["type"], each["msg"], is_text=isinstance(each["input"], str)
            )
            for each in reversed(found)
        }


def why_invalid(fault: str, message: str, *, is_text: bool) -> str:
    """Return what pydantic says of a value in words for people, without the value. Pure."""
    why = _WHY_BY_FAULT.get(fault) or message.removeprefix("Value error, ")
    if is_text and (length := _LENGTH.fullmatch(why)) is not None:
        return "at {} {} characters, got {}".format(*length.groups())
    return why[:1].lower() + why[1:]


def _field(name: str, field: FieldInfo) -> SchemaField:
    label, _, hint = (field.description or name.replace("_", " ")).partition("\n")
    marks = {type(mark): mark for mark in field.metadata}
    values = _values(field.annotation)
    words = marks[Choices].words if Choices in marks else {}
    choices = [(value, words.get(value, value)) for value in values]
    if choices and not field.is_required() and not field.get_default():
        choices.insert(0, ("", "any"))
    return SchemaField(
        name,
        label.strip(),
        " ".join(hint.split()),
        FieldKind.SECRET
        if SecretText in marks
        else _kind(field.annotation, is_choice=bool(choices), has_lines=TextLines in marks),
        field.is_required() and field.annotation is not bool,
        next(
            (most for mark in field.metadata if (most := getattr(mark, "max_length", None))), None
        ),
        tuple(choices),
    )


def _longest(field: FieldInfo) -> int | None:
    found = (getattr(mark, "max_length", None) for mark in field.metadata)
    return next((most for most in found if most is not None), None)


def _kind(annotation: Any, *, is_choice: bool, has_lines: bool) -> FieldKind:
    types = set(_types(annotation))
    if is_choice:
        return FieldKind.CHOICE
    if bool in types:
        return FieldKind.CHECK
    if date in types:
        return FieldKind.DAY
    if int in types:
        return FieldKind.NUMBER
    return FieldKind.LINES if has_lines else FieldKind.TEXT


def _values(annotation: Any) -> list[str]:
    """Return the values of a field that has but a few."""
    found: list[str] = []
    for each in _types(annotation):
        if get_origin(each) is Literal:
            found += [str(value) for value in get_args(each)]
        elif isinstance(each, type) and issubclass(each, StrEnum):
            found += [str(value) for value in each]
    return found


def _types(annotation: Any) -> tuple[Any, ...]:
    """Return the types of a field without None."""
    if get_origin(annotation) in (Union, UnionType):
        return tuple(each for each in get_args(annotation) if each is not type(None))
    return (annotation,)


def _text(value: Any) -> str:
    if value is True:
        return "on"
    return str(value) if isinstance(value, str | int | date) and value is not False else ""
