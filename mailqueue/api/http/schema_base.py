"""What bodies and queries are read by: nothing unknown is let through, every field says its use."""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler


@dataclass(frozen=True, slots=True)
class OneOf:
    """Marks a text that is one of the words of a registry, as `Literal` does for written words."""

    words: tuple[str, ...]

    def __get_pydantic_core_schema__(self, _source: Any, handler: GetCoreSchemaHandler) -> Any:
        return handler.generate_schema(Literal.__getitem__(self.words))


class Given(BaseModel):
    """A query, or a body whose values may be written in more than one way.

    The text below a field is what the API's documents say of it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class StrictlyGiven(Given):
    """A body whose values have the type they are said to have: "1" is no number."""

    model_config = ConfigDict(strict=True)
