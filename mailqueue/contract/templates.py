"""A template, its versions and their texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class Template(Value):
    """A template, without its versions."""

    id: UUID
    slug: str
    name: str
    description: str | None
    category: str
    language: str
    is_platform: bool
    """Whether all projects share it; only administrators change it then."""
    published_version: int | None
    """Number of the published version; null where none is."""
    newest_version: int | None
    """Number of the newest version; null where there is none."""
    created_by: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class TemplateVersion(Value):
    """A version of a template, without its content."""

    id: UUID
    version: int
    status: str
    """`draft`, `published` or `archived`."""
    languages: Sequence[str]
    variables_schema: Mapping[str, Any] | None
    inline_css: bool
    note: str | None
    created_by: str
    created_at: datetime
    published_at: datetime | None
    archived_at: datetime | None


@dataclass(frozen=True, slots=True)
class TemplateText(Value):
    """Subject and bodies of a version in one language."""

    subject: str
    html_body: str | None
    text_body: str | None
    """Null where the text is made from the HTML of each email."""


@dataclass(frozen=True, slots=True)
class TemplateContent(Value):
    """A version with its content, in the template's language and in every other."""

    version: TemplateVersion
    subject: str
    html_body: str | None
    text_body: str | None
    translations: Mapping[str, TemplateText]


@dataclass(frozen=True, slots=True)
class TemplateVersions(Value):
    """A template, and the content of every version."""

    template: Template
    versions: Sequence[TemplateContent]


@dataclass(frozen=True, slots=True)
class TemplateDiff(Value):
    """Differences of two versions, as a unified diff of subject, HTML and text."""

    diff: str


@dataclass(frozen=True, slots=True)
class Preview(Value):
    """An email as it would be rendered from a version."""

    version: int
    language: str
    subject: str
    html_body: str | None
    text_body: str
    size_bytes: int
    """Size of both bodies in bytes."""
    warnings: Sequence[str]
    """Points to check before publishing."""


@dataclass(frozen=True, slots=True)
class TemplatePart(Value):
    """A layout or partial that templates share."""

    name: str
    kind: str
    source: str
    is_platform: bool
    updated_by: str
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class TemplatePicture(Value):
    """A picture that HTML of templates names by its URL."""

    id: UUID
    name: str
    url: str | None
    """Public URL; null where the installation has no MAILQUEUE_PUBLIC_URL."""
    media_type: str
    """`image/png`, `image/jpeg`, `image/gif` or `image/webp`, as its bytes say."""
    bytes: int
    width: int
    """Width in pixels."""
    height: int
    """Height in pixels."""
    sha256: str
    created_by: str
    created_at: datetime
