"""Base classes of bodies and queries: unknown fields are refused, every field is described."""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ConfigDict, GetCoreSchemaHandler

from mailqueue.web.described import DescribedModel


@dataclass(frozen=True, slots=True)
class OneOf:
    """Marks a string whose values come from a registry, like a `Literal` built at runtime."""

    words: tuple[str, ...]

    def __get_pydantic_core_schema__(self, _source: Any, handler: GetCoreSchemaHandler) -> Any:
        return handler.generate_schema(Literal.__getitem__(self.words))


class RequestModel(DescribedModel):
    """A query, or a body whose values may be given in more than one form.

    The docstring of a field is its description in the OpenAPI document.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


class StrictRequestModel(RequestModel):
    """A body with strict types: "1" is not a number."""

    model_config = ConfigDict(strict=True)
