"""The base of models whose fields are described by the docstrings below them.

pydantic can do the same when a class is made (`use_attribute_docstrings`), and then builds its
validators: for the hundreds of models of the API this took a third of the time that a process needs
to start, though a process uses few of them. Here both happen when a model is used for the first
time.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler


class DescribedModel(BaseModel):
    """A model; the docstring below a field is its description, unless it was given another."""

    model_config = ConfigDict(defer_build=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> Any:
        describe(cls)
        return handler(source)


def describe(model: type[BaseModel]) -> None:
    """Set the descriptions of the fields of a model."""
    for made in model.__mro__:
        if issubclass(made, DescribedModel):
            _describe(model, _docstrings(made.__module__).get(made.__qualname__, {}))


def _describe(model: type[BaseModel], docstrings: Mapping[str, str]) -> None:
    for name, field in model.model_fields.items():
        if field.description is None:
            field.description = docstrings.get(name)


@cache
def _docstrings(module: str) -> Mapping[str, Mapping[str, str]]:
    """Return the docstrings of the fields of each class of a module, by name."""
    try:
        source = inspect.getsource(sys.modules[module])
    except OSError:  # no file, as of a class made by hand in a session
        return {}
    return dict(_of_classes(ast.parse(source), ""))


def _of_classes(within: ast.AST, prefix: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    for node in ast.iter_child_nodes(within):
        if isinstance(node, ast.ClassDef):
            name = f"{prefix}{node.name}"
            yield name, _of_fields(node.body)
            yield from _of_classes(node, f"{name}.")


def _of_fields(body: list[ast.stmt]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for field, below in pairwise(body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = inspect.cleandoc(text)
    return found
