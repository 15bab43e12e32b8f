"""Creates templates for tests, by the functions of the product."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.rendering.process.host import CompileProcess
from mailqueue.templates import versions, writing
from mailqueue.templates.model import NewTemplate, NewText, NewVersion, TemplateRow, VersionRow

CHAMBER = CompileProcess()  # one for all tests of a run: starting takes longer than most of them
WELCOME = NewText("Welcome, {{ name }}", "<p>Hello {{ name }}</p>", "Hello {{ name }}")


def lending(conn: Conn) -> Callable[[], AbstractAsyncContextManager[Conn]]:
    """Yield a function that lends this one connection."""

    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        yield conn

    return lend


async def version_of(
    conn: Conn,
    template: TemplateRow,
    words: NewText | Mapping[str, NewText] = WELCOME,
    **said: Any,
) -> VersionRow:
    """Create a draft of a template."""
    by_language = {"": words} if isinstance(words, NewText) else words
    new = NewVersion(by_language, **said)
    return await versions.add(lending(conn), CHAMBER, template, new=new, by="test")


async def put_in_force(conn: Conn, template: TemplateRow, version: VersionRow) -> VersionRow:
    """Publish a version."""
    return await versions.publish(lending(conn), CHAMBER, template, version, by="test")


async def published(
    conn: Conn,
    project_id: UUID | None,
    *,
    slug: str = "welcome",
    words: NewText | Mapping[str, NewText] = WELCOME,
    name: str | None = None,
    category: str | None = None,
    **said: Any,
) -> TemplateRow:
    """Create a template with a published version."""
    new = NewTemplate(slug, name=name, category=category)
    template = await writing.create(conn, project_id, new=new, by="test")
    version = await version_of(conn, template, words, **said)
    await put_in_force(conn, template, version)
    return await writing.find(conn, project_id, template_id=template.id)
