"""Request bodies and queries of templates."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel
from mailqueue.rendering.compiled import LONGEST_SOURCE
from mailqueue.templates.model import PartKind

TemplateSlug = Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_-]{0,99}$")]
TemplateName = Annotated[str, Field(min_length=1, max_length=200)]
TemplateDescription = Annotated[str, Field(max_length=2000)]
TemplateCategory = Annotated[str, Field(pattern="^[a-z][a-z0-9_-]{0,62}$")]
Language = Annotated[str, Field(pattern="^[A-Za-z]{2,3}([_-][A-Za-z0-9]{2,8})*$", max_length=35)]
Subject = Annotated[str, Field(min_length=1, max_length=998)]
Body = Annotated[str, Field(max_length=LONGEST_SOURCE)]
VersionStatusWord = Literal["draft", "published", "archived"]


class CreateTemplate(StrictRequestModel):
    """A template to create, without a version."""

    slug: TemplateSlug
    """Slug, such as `welcome`, by which emails name it: lower-case letters, digits, `-` and `_`."""
    name: TemplateName | None = None
    """Display name; the slug if omitted."""
    description: TemplateDescription | None = None
    """Description."""
    category: TemplateCategory | None = None
    """Default category of its emails, such as `marketing`; `transactional` if omitted."""
    language: Language | None = None
    """Language of its versions, such as `en` or `pt-br`; `en` if omitted."""


class ChangeTemplate(StrictRequestModel):
    """Fields of a template to change; omitted fields are unchanged."""

    name: TemplateName | None = None
    """Display name."""
    description: TemplateDescription | None = None
    """Description."""
    category: TemplateCategory | None = None
    """Default category of its emails, such as `marketing`."""
    language: Language | None = None
    """Language of its versions, such as `en` or `pt-br`."""


class Translation(StrictRequestModel):
    """Texts of a version in another language."""

    subject: Subject
    """Subject in this language, a Jinja template such as `Hello {{ name }}`."""
    html_body: Body | None = None
    """HTML body in this language, a Jinja template."""
    text_body: Body | None = None
    """Text body in this language, a Jinja template. Made from each email's HTML if omitted."""


class CreateVersion(StrictRequestModel):
    """Texts of a version in the template's language, and in others."""

    subject: Subject
    """Subject, a Jinja template such as `Hello {{ name }}`, in one line."""
    html_body: Body | None = None
    """HTML body, a Jinja template; variables are escaped."""
    text_body: Body | None = None
    """Text body, a Jinja template. Made from each email's HTML if omitted."""
    variables_schema: dict[str, Any] | None = None
    """JSON Schema (2020-12) of the variables of each email."""
    translations: dict[Language, Translation] = Field(default_factory=dict, max_length=49)
    """Texts in other languages, by language such as `de` or `pt-br`."""
    inline_css: bool = False
    """Inline the rules of `<style>` into the elements when it is published."""
    note: Annotated[str, Field(max_length=500)] | None = None
    """Note about what changed."""


class CloneTemplate(StrictRequestModel):
    """Name of the copy; without a slug it keeps the original's."""

    slug: TemplateSlug | None = None
    """Slug of the copy; the original's if omitted."""
    name: TemplateName | None = None
    """Display name of the copy; the original's if omitted."""
    project_id: str | None = None
    """Id of the key's own project; only administrators copy to others."""


class AskPreview(StrictRequestModel):
    """Sample data of a preview; without a version, the published one, else the newest."""

    variables: dict[str, Any] = Field(default_factory=dict)
    """Sample values by name of variable, such as `{"name": "Ann"}`."""
    version: Annotated[int, Field(ge=1, le=999_999_999)] | None = None
    """Number of the version; if omitted, the published one, else the newest."""
    language: Language | None = None
    """Language, such as `de`; the template's own if omitted."""


class PutPart(RequestModel):
    """A layout or partial."""

    kind: PartKind = PartKind.PARTIAL
    """`layout`: bodies extend it and fill its blocks; `partial`: bodies include it."""
    source: Body
    """HTML or text with Jinja."""


class TemplatesQuery(PageQuery):
    """Filters of templates."""

    category: TemplateCategory | None = None
    """Filter by category."""
    status: VersionStatusWord | None = None
    """Filter by status of a version."""
    q: Annotated[str | None, Field(max_length=200)] = None
    """Filter by text in slug, name or description."""


class DiffQuery(RequestModel):
    """Versions to compare."""

    from_: Annotated[int, Field(alias="from", ge=1, le=999_999_999)]
    """Number of the older version."""
    to: Annotated[int, Field(ge=1, le=999_999_999)]
    """Number of the newer version."""
    language: Language | None = None
    """Language to compare, such as `de`; the template's own if omitted."""
