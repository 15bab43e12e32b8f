"""Endpoints of subscription categories, which the preference centre shows."""

from http import HTTPStatus
from typing import Annotated

from pydantic import Field

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.contract.suppression import Categories, Category
from mailqueue.projects.model import Scope
from mailqueue.suppression.subscriptions import categories

_TAG = "Subscriptions"
PATH = "/v1/categories"

CategorySlug = Annotated[str, Field(max_length=63)]
CategoryName = Annotated[str, Field(min_length=1, max_length=100)]
CategoryDescription = Annotated[str, Field(max_length=300)]


class CategoryWords(StrictRequestModel):
    """Texts of a category in one language."""

    name: CategoryName | None = None
    """Name that recipients see; the name of the category if omitted."""
    description: CategoryDescription | None = None
    """Description that recipients see."""


Translations = Annotated[dict[str, CategoryWords], Field(max_length=categories.MAX_LANGUAGES)]


class CategoryChange(StrictRequestModel):
    """Fields of a category to change; omitted fields are unchanged."""

    name: CategoryName | None = None
    """Name that recipients see, such as Product updates."""
    description: CategoryDescription | None = None
    """Description that recipients see; null removes it."""
    translations: Translations | None = None
    """Name and description by language: `{"de": {"name": "Neues"}}`; replaces all translations."""
    is_required: bool | None = None
    """Whether recipients cannot unsubscribe from it, as from receipts."""
    place: Annotated[int, Field(ge=0, le=10_000)] | None = None
    """Position: lower numbers are shown first; 100 by default."""


class NewCategory(CategoryChange):
    """A category of mail."""

    slug: CategorySlug
    """The `category` of its emails: lower-case letters, digits, `-` and `_`."""
    name: CategoryName
    """Name that recipients see, such as Product updates."""


async def list_(call: RequestContext) -> Categories:
    """List all categories."""
    async with call.connection() as conn:
        return Categories(await categories.list_(conn, call.caller.project))


async def get(call: RequestContext) -> Category:
    """Return one category."""
    async with call.connection() as conn:
        return await categories.get(conn, call.caller.project, slug=call.path["slug"])


async def add(call: RequestContext) -> Category:
    """Add a category."""
    given = call.body.model_dump(exclude_unset=True)
    slug = given.pop("slug")
    async with call.connection() as conn:
        return await categories.add(conn, call.caller.project, slug=slug, fields=given, by=call.by)


async def change(call: RequestContext) -> Category:
    """Change a category."""
    given = call.body.model_dump(exclude_unset=True)
    slug, project = call.path["slug"], call.caller.project
    async with call.connection() as conn:
        return await categories.change(conn, project, slug=slug, fields=given, by=call.by)


async def remove(call: RequestContext) -> None:
    """Remove a category from the preference centre."""
    slug, project = call.path["slug"], call.caller.project
    async with call.connection() as conn:
        await categories.remove(conn, project, slug=slug, by=call.by)


ENDPOINTS = (
    Endpoint(
        "GET",
        PATH,
        Scope.SUPPRESSION_MANAGE,
        "List the categories of the preference centre.",
        list_,
        response=Categories,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "POST",
        PATH,
        Scope.SUPPRESSION_MANAGE,
        "Add a category.",
        add,
        request=NewCategory,
        response=Category,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        example={
            "slug": "product-updates",
            "name": "Product updates",
            "description": "What is new, about once a month.",
            "translations": {"de": {"name": "Neues vom Produkt"}},
        },
        description="Recipients can then unsubscribe from emails of this category or pause them, "
        "alone or with all others.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        PATH + "/{slug}",
        Scope.SUPPRESSION_MANAGE,
        "Show a category.",
        get,
        response=Category,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "PUT",
        PATH + "/{slug}",
        Scope.SUPPRESSION_MANAGE,
        "Change a category.",
        change,
        request=CategoryChange,
        response=Category,
        tag=_TAG,
        example={"name": "News", "place": 10},
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        PATH + "/{slug}",
        Scope.SUPPRESSION_MANAGE,
        "Remove a category from the preference centre.",
        remove,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        description="Recipients who unsubscribed from it stay unsubscribed.",
        test_keys=ForTestKeys.REFUSED,
    ),
)
