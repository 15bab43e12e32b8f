"""The statements of sql/queries/templates.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneValue

# Written by python -m tests.rules.constants --write

ADD_TEMPLATE = OneValue.named("add_template")
"""sql/queries/templates.sql:3: Create a template; its id. A slug that exists raises 23505."""
CHANGE_TEMPLATE = OneValue.named("change_template")
"""sql/queries/templates.sql:7: Change fields of a template; false if there is none."""
REMOVE_TEMPLATE = OneValue.named("remove_template")
"""sql/queries/templates.sql:11: Delete a template with its versions; false if there is none."""
REMOVE_TEMPLATES = OneValue.named("remove_templates")
"""sql/queries/templates.sql:15: Delete templates with their versions; the number of those that were
there.
"""
ADD_TEMPLATE_VERSION = MaybeRow.named("add_template_version")
"""sql/queries/templates.sql:19: Create a draft, the next version of a template; NULL if there is no
template.
"""
PUBLISH_TEMPLATE = OneValue.named("publish_template")
"""sql/queries/templates.sql:23: Publish a version; false if there is none."""
ARCHIVE_TEMPLATE = OneValue.named("archive_template")
"""sql/queries/templates.sql:27: Archive a version; false if there is none."""
FIND_TEMPLATE = MaybeRow.named("find_template")
"""sql/queries/templates.sql:31: A template by its id, or by its slug; the project's own before the
platform's.
"""
LIST_TEMPLATES = ManyRows.named("list_templates")
"""sql/queries/templates.sql:49: A page of a project's templates, and those of the platform whose
slug the project does not use, by slug.
"""
LIST_TEMPLATE_VERSIONS = ManyRows.named("list_template_versions")
"""sql/queries/templates.sql:71: The versions of a template, newest first."""
FIND_TEMPLATE_VERSION = MaybeRow.named("find_template_version")
"""sql/queries/templates.sql:84: One version of a template: by its number, by its id, or else the
published one.
"""
FIND_NOTED_VERSION = MaybeRow.named("find_noted_version")
"""sql/queries/templates.sql:97: The number of the newest version of a template, or of those before
one, whose note is one, or begins with one.
"""
LIST_TEMPLATE_TEXTS = ManyRows.named("list_template_texts")
"""sql/queries/templates.sql:107: The content of a version in each language."""
READ_VERSION_SOURCES = ManyRows.named("read_version_sources")
"""sql/queries/templates.sql:114: The content of these versions in these languages, as sent."""
PUT_TEMPLATE_PART = OneValue.named("put_template_part")
"""sql/queries/templates.sql:122: Create or replace a layout or partial; its id."""
REMOVE_TEMPLATE_PART = OneValue.named("remove_template_part")
"""sql/queries/templates.sql:126: Delete a layout or partial; false if there is none."""
LIST_TEMPLATE_PARTS = ManyRows.named("list_template_parts")
"""sql/queries/templates.sql:130: The layouts and partials a project's templates may name, the
project's own before the platform's of the same name.
"""
FIND_TEMPLATE_PART = MaybeRow.named("find_template_part")
"""sql/queries/templates.sql:138: A layout or partial of a project, or of the platform."""
ADD_TEMPLATE_PICTURE = OneValue.named("add_template_picture")
"""sql/queries/templates.sql:144: Store a picture, or find the one with the same bytes; its id."""
REMOVE_TEMPLATE_PICTURE = OneValue.named("remove_template_picture")
"""sql/queries/templates.sql:149: Delete a picture; false if there is none."""
LIST_TEMPLATE_PICTURES = ManyRows.named("list_template_pictures")
"""sql/queries/templates.sql:153: The pictures of a project, newest first, or one of them; with the
domain of the project's links if DNS leads it here.
"""
READ_TEMPLATE_PICTURE = MaybeRow.named("read_template_picture")
"""sql/queries/templates.sql:163: The bytes of a picture of a project."""
READ_PUBLIC_PICTURE = MaybeRow.named("read_public_picture")
"""sql/queries/templates.sql:169: The bytes of the picture of a public URL."""
LIST_TEMPLATES_WITH_PICTURE = ManyRows.named("list_templates_with_picture")
"""sql/queries/templates.sql:175: Slugs of the templates of a project whose published or newest
version has the token of a picture in its HTML, or in a layout or partial that it uses.
"""
