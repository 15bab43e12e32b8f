"""What bodies and queries are read by: nothing unknown is let through, every field says its use."""

from pydantic import BaseModel, ConfigDict


class Given(BaseModel):
    """A query, or a body whose values may be written in more than one way.

    The text below a field is what the API's documents say of it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class StrictlyGiven(Given):
    """A body whose values have the type they are said to have: "1" is no number."""

    model_config = ConfigDict(strict=True)
