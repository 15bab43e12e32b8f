"""Fields of another provider's API that are options of an email, as MAIL_OPTIONS has them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, Field, StrictBool, create_model

from mailqueue.api.emails.schema import StorableText, Whole
from mailqueue.core.mail_options import MAIL_OPTIONS, Api, MailOption, OptionType

Model = TypeVar("Model", bound=BaseModel)

# Instants, lists and objects have forms of their own in each API.
TYPES: Mapping[OptionType, Any] = MappingProxyType(
    {
        OptionType.STRING: StorableText | None,
        OptionType.WHOLE: Whole | None,
        OptionType.BOOLEAN: StrictBool | None,
    }
)


def mapped_options(api: Api) -> tuple[MailOption, ...]:
    """Return the options that have a field in an API."""
    return tuple(one for one in MAIL_OPTIONS if api in one.compat)


def names_in(api: Api) -> dict[str, str]:
    """Return the field of an API by the field of `/v1/send` that has the same meaning."""
    return {one.api_field: one.compat[api] for one in mapped_options(api)}


def with_option_fields(api: Api) -> Callable[[type[Model]], type[Model]]:
    """Add the fields of options to a model of requests to an API."""

    def extended(model: type[Model]) -> type[Model]:
        made: dict[str, Any] = {
            one.api_field: (TYPES[one.type], Field(default=None, alias=one.compat[api]))
            for one in mapped_options(api)
        }
        return create_model(
            model.__name__,
            __base__=model,
            __module__=model.__module__,
            __doc__=model.__doc__,
            **made,
        )

    return extended


def options_in(api: Api, request: BaseModel) -> dict[str, Any]:
    """Return the values of options in a request to an API, by field of `/v1/send`."""
    values = {name: getattr(request, name) for name in names_in(api)}
    return {name: None if value == "" else value for name, value in values.items()}
