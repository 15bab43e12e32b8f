"""Add, list and delete pictures of templates."""

import asyncio
from uuid import UUID

from mailqueue.contract.templates import TemplatePicture
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.templates.pictures import store
from mailqueue.templates.pictures.formats import kind_of
from mailqueue.templates.pictures.model import PATH, NewPicture, PictureBytes, PictureRow

MAX_USERS = 20
"""Templates that are named as using a picture."""


async def received(name: str, octets: bytes) -> NewPicture:
    """Return a picture to store, after its bytes are read in a thread; hold no connection.

    Raises:
        InvalidField: the field named, `file` or `name`, is invalid.
    """
    if "\0" in name:
        raise InvalidField("name", "it has a character NUL, which no file name has")
    return NewPicture(name, await asyncio.to_thread(kind_of, octets), octets)


async def add(conn: Conn, project_id: UUID, new: NewPicture, *, by: str) -> PictureRow:
    """Store a picture and return it; the one with the same bytes if the project has it already.

    Raises:
        InvalidField: the field named, `file` or `name`, is invalid; nothing was stored.
    """
    return await find(conn, project_id, await store.add(conn, project_id, new, by=by))


async def list_all(conn: Conn, project_id: UUID) -> list[PictureRow]:
    """Return the pictures of a project, newest first."""
    return await store.list_rows(conn, project_id)


async def find(conn: Conn, project_id: UUID, picture_id: UUID) -> PictureRow:
    """Return a picture of a project.

    Raises:
        NotFound: there is no such picture.
    """
    for found in await store.list_rows(conn, project_id, picture_id):
        return found
    raise NotFound("picture", picture_id)


async def read(conn: Conn, project_id: UUID, picture_id: UUID) -> PictureBytes:
    """Return the bytes of a picture of a project.

    Raises:
        NotFound: there is no such picture.
    """
    found = await store.read(conn, project_id, picture_id)
    if found is None:
        raise NotFound("picture", picture_id)
    return found


async def templates_with(conn: Conn, project_id: UUID, picture: PictureRow) -> list[str]:
    """Return the slugs of templates whose published or newest version names a picture in its HTML,
    at most MAX_USERS.
    """
    return await store.templates_with(conn, project_id, picture.token, limit=MAX_USERS)


async def remove(conn: Conn, project_id: UUID, picture_id: UUID, *, by: str) -> None:
    """Delete a picture; mail that names it shows nothing in its place.

    Raises:
        NotFound: there is no such picture.
        Conflict: it is the logo of the project.
    """
    try:
        is_removed = await store.remove(conn, project_id, picture_id, by=by)
    except InvalidField as exc:
        raise Conflict(exc.why) from exc
    if not is_removed:
        raise NotFound("picture", picture_id)


def value_of(row: PictureRow, *, public_url: str | None) -> TemplatePicture:
    """Return a picture as callers see it, with its URL as links in mail of its project begin."""
    begin = public_url if row.domain is None else f"https://{row.domain}"
    return TemplatePicture(
        id=row.id,
        name=row.name,
        url=None if begin is None else f"{begin.rstrip('/')}{PATH}{row.token.hex}",
        media_type=row.media_type,
        bytes=row.bytes,
        width=row.width,
        height=row.height,
        sha256=row.sha256,
        created_by=row.created_by,
        created_at=row.created_at,
    )
