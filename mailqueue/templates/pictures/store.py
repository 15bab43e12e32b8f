"""SQL of pictures of templates."""

from uuid import UUID

from mailqueue.db.fetch import Conn, many, maybe, value
from mailqueue.db.refusals import refusals
from mailqueue.db.statements import templates as sql
from mailqueue.templates.pictures.model import NewPicture, PictureBytes, PictureRow


async def add(conn: Conn, project_id: UUID, new: NewPicture, *, by: str) -> UUID:
    """Store a picture and return its id; that of the one with the same bytes if there is one.

    Raises:
        InvalidField: the name is invalid, or the project has as many pictures as it may have.
    """
    asked = {
        "project_id": project_id,
        "name": new.name,
        "media_type": new.kind.media_type,
        "width": new.kind.width,
        "height": new.kind.height,
        "octets": new.octets,
        "by": by,
    }
    with refusals():
        return await value(conn, sql.ADD_TEMPLATE_PICTURE, asked, UUID)


async def remove(conn: Conn, project_id: UUID, picture_id: UUID, *, by: str) -> bool:
    """Delete a picture; return False where there is none.

    Raises:
        InvalidField: it is the logo of the project.
    """
    asked = {"project_id": project_id, "id": picture_id, "by": by}
    with refusals():
        return await value(conn, sql.REMOVE_TEMPLATE_PICTURE, asked, bool)


async def list_rows(
    conn: Conn, project_id: UUID, picture_id: UUID | None = None
) -> list[PictureRow]:
    """Return the pictures of a project, newest first; with `picture_id` that one."""
    asked = {"project_id": project_id, "id": picture_id}
    return await many(conn, sql.LIST_TEMPLATE_PICTURES, asked, PictureRow)


async def read(conn: Conn, project_id: UUID, picture_id: UUID) -> PictureBytes | None:
    """Return the bytes of a picture of a project; None where there is none."""
    asked = {"project_id": project_id, "id": picture_id}
    return await maybe(conn, sql.READ_TEMPLATE_PICTURE, asked, PictureBytes)


async def read_public(conn: Conn, token: UUID) -> PictureBytes | None:
    """Return the bytes of the picture of a public URL; None where there is none."""
    return await maybe(conn, sql.READ_PUBLIC_PICTURE, {"token": token}, PictureBytes)


async def templates_with(conn: Conn, project_id: UUID, token: UUID, *, limit: int) -> list[str]:
    """Return the slugs of templates whose published or newest version names a picture."""
    asked = {"project_id": project_id, "token": token.hex, "limit": limit}
    return await many(conn, sql.LIST_TEMPLATES_WITH_PICTURE, asked, str)
