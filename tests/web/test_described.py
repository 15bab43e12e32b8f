"""Models are described by the docstrings of their fields, once they are used."""

from typing import Annotated

from pydantic import Field

from mailqueue.web.described import DescribedModel, describe


class Base(DescribedModel):
    first: int = 1
    """The first.

    With a second line.
    """
    second: Annotated[int, Field(description="Given.")] = 2
    """Not this."""


class Derived(Base):
    third: int = 3
    """The third."""
    fourth: int = 4

    class Inner(DescribedModel):
        first: int = 1
        """Another first."""


class Outer(DescribedModel):
    one: Derived
    """What is within."""


def test_the_schema_has_the_docstrings_of_a_model_its_bases_and_of_models_within() -> None:
    schema = Outer.model_json_schema()

    assert schema["properties"]["one"]["description"] == "What is within."
    within = schema["$defs"]["Derived"]["properties"]
    assert {name: each.get("description") for name, each in within.items()} == {
        "first": "The first.\n\nWith a second line.",
        "second": "Given.",
        "third": "The third.",
        "fourth": None,
    }


def test_a_model_may_be_described_before_it_validates_anything() -> None:
    describe(Derived.Inner)

    assert Derived.Inner.model_fields["first"].description == "Another first."


def test_a_model_that_validated_before_is_described_too() -> None:
    class Local(Base):
        fifth: int = 5

    assert Local.model_validate({"first": 7}).first == 7
    assert Local.model_json_schema()["properties"]["first"]["description"]
