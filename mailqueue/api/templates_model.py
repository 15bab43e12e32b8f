"""What is asked and answered about templates."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from mailqueue.api.paging import PageQuery
from mailqueue.rendering.stencil import LONGEST_SOURCE
from mailqueue.templates.model import PartKind

_STRICT = ConfigDict(extra="forbid", frozen=True)
_TOLD = ConfigDict(extra="forbid", frozen=True, strict=True)

Slug = Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_-]{0,99}$")]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Description = Annotated[str, Field(max_length=2000)]
Category = Annotated[str, Field(pattern="^[a-z][a-z0-9_-]{0,62}$")]
Language = Annotated[str, Field(pattern="^[A-Za-z]{2,3}([_-][A-Za-z0-9]{2,8})*$", max_length=35)]
Subject = Annotated[str, Field(min_length=1, max_length=998)]
Body = Annotated[str, Field(max_length=LONGEST_SOURCE)]
VersionStatusWord = Literal["draft", "published", "archived"]


class CreateTemplate(BaseModel):
    """A template, still without a version."""

    model_config = _TOLD

    slug: Slug
    name: Name | None = None
    description: Description | None = None
    category: Category | None = None
    language: Language | None = None


class ChangeTemplate(BaseModel):
    """What of a template changes; what is left out stays."""

    model_config = _TOLD

    name: Name | None = None
    description: Description | None = None
    category: Category | None = None
    language: Language | None = None


class Translation(BaseModel):
    """What a version says in another language."""

    model_config = _TOLD

    subject: Subject
    html_body: Body | None = None
    text_body: Body | None = None


class CreateVersion(BaseModel):
    """What a version says in the template's language, and in others."""

    model_config = _TOLD

    subject: Subject
    html_body: Body | None = None
    text_body: Annotated[
        Body | None, Field(description="Made of each mail's HTML where it is left out")
    ] = None
    variables_schema: Annotated[
        dict[str, Any] | None, Field(description="JSON Schema 2020-12 of the variables")
    ] = None
    translations: Annotated[dict[Language, Translation], Field(max_length=49)] = {}
    inline_css: Annotated[bool, Field(description="When it is published")] = False
    note: Annotated[str, Field(max_length=500)] | None = None


class CloneTemplate(BaseModel):
    """What the copy is called; without a slug it keeps the one it is copied from."""

    model_config = _TOLD

    slug: Slug | None = None
    name: Name | None = None
    project_id: Annotated[
        str | None, Field(description="The project of the copy: only the caller's own")
    ] = None


class AskPreview(BaseModel):
    """Sample data for a mail; without a version the published one, or else the newest."""

    model_config = _TOLD

    variables: dict[str, Any] = {}
    version: Annotated[int, Field(ge=1, le=999_999_999)] | None = None
    language: Language | None = None


class PutPart(BaseModel):
    """A layout or partial."""

    model_config = _STRICT

    kind: PartKind = PartKind.PARTIAL
    source: Body


class TemplatesQuery(PageQuery):
    """Which templates are listed."""

    category: Category | None = None
    status: Annotated[
        VersionStatusWord | None, Field(description="Those with a version that is")
    ] = None
    q: Annotated[str | None, Field(max_length=200, description="Text in slug, name …")] = None


class DiffQuery(BaseModel):
    """Which versions are compared."""

    model_config = _STRICT

    from_: Annotated[int, Field(alias="from", ge=1, le=999_999_999)]
    to: Annotated[int, Field(ge=1, le=999_999_999)]
    language: Language | None = None


@dataclass(frozen=True, slots=True)
class ShownTemplate:
    """A template; `is_platform`: it is everybody's, and changed by administrators only."""

    id: UUID
    slug: str
    name: str
    description: str | None
    category: str
    language: str
    is_platform: bool
    published_version: int | None
    newest_version: int | None
    created_by: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ShownVersion:
    """A version without its words."""

    id: UUID
    version: int
    status: str
    languages: list[str]
    variables_schema: dict[str, Any] | None
    inline_css: bool
    note: str | None
    created_by: str
    created_at: datetime
    published_at: datetime | None
    archived_at: datetime | None


@dataclass(frozen=True, slots=True)
class ShownTranslation:
    """What a version says in one language; a text of null is made of each mail's HTML."""

    subject: str
    html_body: str | None
    text_body: str | None


@dataclass(frozen=True, slots=True)
class ShownWords:
    """A version with what it says, in the template's language and in all."""

    version: ShownVersion
    subject: str
    html_body: str | None
    text_body: str | None
    translations: dict[str, ShownTranslation]


@dataclass(frozen=True, slots=True)
class ShownDiff:
    """What two versions say differently, as a unified diff of subject, HTML and text."""

    diff: str


@dataclass(frozen=True, slots=True)
class ShownPreview:
    """What a mail would say, the bytes of its bodies, and what somebody should look at."""

    version: int
    language: str
    subject: str
    html_body: str | None
    text_body: str
    size_bytes: int
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A layout or partial."""

    name: str
    kind: str
    source: str
    is_platform: bool
    updated_by: str
    updated_at: datetime
