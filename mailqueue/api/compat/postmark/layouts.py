"""Templates of Postmark without layouts, which are not translated."""

from typing import Literal

from pydantic import ConfigDict, model_validator
from pydantic.alias_generators import to_pascal

from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.schema_base import StrictRequestModel


class WithoutLayout(StrictRequestModel):
    """The fields of a body that name a layout."""

    model_config = ConfigDict(alias_generator=to_pascal)

    template_type: Literal["Standard"] = "Standard"
    layout_template: StorableText | None = None

    @model_validator(mode="after")
    def _named_none(self) -> "WithoutLayout":
        if self.layout_template:
            raise ValueError('layouts are not translated: write {% extends "name" %}')
        return self
