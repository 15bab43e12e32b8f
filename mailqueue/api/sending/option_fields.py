"""Fields of a request that are made from MAIL_OPTIONS, and the option that each field sets."""

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import AliasChoices, BaseModel, Field, StrictBool, create_model

from mailqueue.api.emails.schema import Instant, StorableObject, StorableText, Whole
from mailqueue.core.mail_options import MAIL_OPTIONS, MailOption, OptionType

Model = TypeVar("Model", bound=BaseModel)

TYPES: Mapping[OptionType, Any] = MappingProxyType(
    {
        OptionType.STRING: StorableText | None,
        OptionType.INSTANT: Instant | None,
        OptionType.STRINGS: list[StorableText],
        OptionType.BOOLEAN: StrictBool | None,
        OptionType.WHOLE: Whole | None,
        OptionType.OBJECT: StorableObject | None,
        OptionType.HEADERS: dict[StorableText, StorableText],
        OptionType.PRIORITY: StorableText | Whole | None,
    }
)
_EMPTY: Mapping[OptionType, Callable[[], Any]] = MappingProxyType(
    {OptionType.STRINGS: list, OptionType.HEADERS: dict}
)
# Read by `options` of the requests that have them.
_BY_HAND = frozenset({"to", "attachments", "template", "language", "variables"})


def with_option_fields(*, of_one: bool) -> Callable[[type[Model]], type[Model]]:
    """Add the fields of options to a model: those of every request, or those of one email only."""

    def extended(model: type[Model]) -> type[Model]:
        made: dict[str, Any] = {
            one.api_field: _field(one)
            for one in MAIL_OPTIONS
            if one.api_help and one.is_of_one is of_one
        }
        return create_model(
            model.__name__,
            __base__=model,
            __module__=model.__module__,
            __doc__=model.__doc__,
            **made,
        )

    return extended


def _field(one: MailOption) -> tuple[Any, Any]:
    given: dict[str, Any] = {"description": one.api_help}
    if one.type in _EMPTY:
        given["default_factory"] = _EMPTY[one.type]
    else:
        given["default"] = None
    if one.api:
        given["validation_alias"] = AliasChoices(one.api, one.name)
    return (TYPES[one.type], Field(**given))


@functools.cache
def options_by_field(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the name of the option by the field of a request that sets it."""
    return MappingProxyType(
        {
            one.api_field: one.name
            for one in MAIL_OPTIONS
            if one.name not in _BY_HAND and one.api_field in model.model_fields
        }
    )
