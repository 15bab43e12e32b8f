"""What is asked and answered about templates."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import Given, StrictlyGiven
from mailqueue.rendering.compiled import LONGEST_SOURCE
from mailqueue.templates.model import PartKind

Slug = Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_-]{0,99}$")]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Description = Annotated[str, Field(max_length=2000)]
Category = Annotated[str, Field(pattern="^[a-z][a-z0-9_-]{0,62}$")]
Language = Annotated[str, Field(pattern="^[A-Za-z]{2,3}([_-][A-Za-z0-9]{2,8})*$", max_length=35)]
Subject = Annotated[str, Field(min_length=1, max_length=998)]
Body = Annotated[str, Field(max_length=LONGEST_SOURCE)]
VersionStatusWord = Literal["draft", "published", "archived"]


class CreateTemplate(StrictlyGiven):
    """A template, still without a version."""

    slug: Slug
    """What mail names it by, such as `welcome`: lower-case letters, digits, `-` and `_`."""
    name: Name | None = None
    """What people call it; its slug if left out."""
    description: Description | None = None
    """What it is for, for people."""
    category: Category | None = None
    """Category of its mail, such as `marketing`, unless the mail names one; `transactional` if
    left out.
    """
    language: Language | None = None
    """Language its versions are written in, such as `en` or `pt-br`; `en` if left out."""


class ChangeTemplate(StrictlyGiven):
    """What of a template changes; what is left out stays."""

    name: Name | None = None
    """What people call it."""
    description: Description | None = None
    """What it is for, for people."""
    category: Category | None = None
    """Category of its mail, such as `marketing`, unless the mail names one."""
    language: Language | None = None
    """Language its versions are written in, such as `en` or `pt-br`."""


class Translation(StrictlyGiven):
    """What a version says in another language."""

    subject: Subject
    """Subject in this language; Jinja such as `Hello {{ name }}`."""
    html_body: Body | None = None
    """HTML in this language; Jinja."""
    text_body: Body | None = None
    """Text in this language; Jinja. Made of each mail's HTML if left out."""


class CreateVersion(StrictlyGiven):
    """What a version says in the template's language, and in others."""

    subject: Subject
    """Subject; Jinja such as `Hello {{ name }}`, one line."""
    html_body: Body | None = None
    """HTML; Jinja, in which every variable is escaped."""
    text_body: Body | None = None
    """Text; Jinja. Made of each mail's HTML if left out."""
    variables_schema: dict[str, Any] | None = None
    """JSON Schema (2020-12) that the variables of each mail have to fit."""
    translations: dict[Language, Translation] = Field(default_factory=dict, max_length=49)
    """What it says in other languages, by language such as `de` or `pt-br`."""
    inline_css: bool = False
    """Put the rules of `<style>` into the elements when it is published."""
    note: Annotated[str, Field(max_length=500)] | None = None
    """What changed, for people."""


class CloneTemplate(StrictlyGiven):
    """What the copy is called; without a slug it keeps the one it is copied from."""

    slug: Slug | None = None
    """Slug of the copy; the same as what is copied if left out."""
    name: Name | None = None
    """What people call the copy; the same if left out."""
    project_id: str | None = None
    """Id of the key's own project; administrators copy to others."""


class AskPreview(StrictlyGiven):
    """Sample data for a mail; without a version the published one, or else the newest."""

    variables: dict[str, Any] = Field(default_factory=dict)
    """Sample values by name of variable, such as `{"name": "Ann"}`."""
    version: Annotated[int, Field(ge=1, le=999_999_999)] | None = None
    """Number of the version; the published one if left out, or else the newest."""
    language: Language | None = None
    """Language, such as `de`; the template's own if left out."""


class PutPart(Given):
    """A layout or partial."""

    kind: PartKind = PartKind.PARTIAL
    """`layout`: bodies extend it and fill its blocks; `partial`: bodies include it."""
    source: Body
    """What it says: HTML or text with Jinja."""


class TemplatesQuery(PageQuery):
    """Which templates are listed."""

    category: Category | None = None
    """Only those of this category."""
    status: VersionStatusWord | None = None
    """Only those with a version in this state."""
    q: Annotated[str | None, Field(max_length=200)] = None
    """Text in slug, name or description."""


class DiffQuery(Given):
    """Which versions are compared."""

    from_: Annotated[int, Field(alias="from", ge=1, le=999_999_999)]
    """Number of the older version."""
    to: Annotated[int, Field(ge=1, le=999_999_999)]
    """Number of the newer version."""
    language: Language | None = None
    """Language to compare them in, such as `de`; the template's own if left out."""
