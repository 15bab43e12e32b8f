"""Values: templates, their versions and texts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID


class VersionStatus(StrEnum):
    """Status of a version."""

    DRAFT = "draft"
    PUBLISHED = "published"
    ARCHIVED = "archived"


class PartKind(StrEnum):
    """Kind of a shared part: bodies extend layouts and include partials."""

    LAYOUT = "layout"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True)
class TemplateRow:
    """A template; `project_id` None: a template of the platform.

    `published`, `previous`, the newest one below it that was published, and `newest` are numbers of
    versions.
    """

    id: UUID
    project_id: UUID | None
    slug: str
    name: str
    description: str | None
    category: str
    language: str
    created_by: str
    created_at: datetime
    updated_at: datetime
    published: int | None
    previous: int | None
    newest: int | None


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version of a template, without its texts."""

    id: UUID
    template_id: UUID
    version: int
    status: str
    variables_schema: dict[str, Any] | None
    is_css_inlined: bool
    note: str | None
    created_by: str
    created_at: datetime
    published_at: datetime | None
    archived_at: datetime | None
    languages: list[str]


@dataclass(frozen=True, slots=True)
class StoredText:
    """The texts of a version in one language, as stored."""

    language: str
    subject: str
    html_body: str | None
    text_body: str | None  # None: made from each mail's HTML
    sent_html: str | None
    parts: dict[str, str]
    needs: list[str]


@dataclass(frozen=True, slots=True)
class PartRow:
    """A layout or partial that templates share."""

    id: UUID
    project_id: UUID | None
    name: str
    kind: str
    source: str
    updated_by: str
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class NewTemplate:
    """A requested template; None stands for the default."""

    slug: str
    name: str | None = None
    description: str | None = None
    category: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class NewText:
    """Requested texts of a version in one language; a text body of None is made from the HTML."""

    subject: str
    html: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A requested version: texts by language, '' for the language of the template."""

    words: Mapping[str, NewText]
    variables_schema: Mapping[str, Any] | None = None
    is_css_inlined: bool = False
    note: str | None = None


class VersionSource(NamedTuple):
    """The texts of a version in one language, as workers need them."""

    version_id: UUID
    language: str
    subject: str
    html: str | None
    text: str | None
    parts: dict[str, str]
    schema: dict[str, Any] | None
