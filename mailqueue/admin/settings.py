"""Read and change the settings and flags of the installation."""

from collections.abc import Mapping
from uuid import UUID

from mailqueue.admin import store
from mailqueue.admin.model import SettingKind
from mailqueue.contract.admin import Setting
from mailqueue.contract.projects import ProjectRetention
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.telemetry.log import get_logger

log = get_logger(__name__)


async def list_all(conn: Conn) -> list[Setting]:
    """Return the settings by name, without the flags."""
    return [each for each in await store.list_settings(conn) if each.kind != SettingKind.FLAG]


async def list_flags(conn: Conn) -> list[Setting]:
    """Return the flags by name."""
    return [each for each in await store.list_settings(conn) if each.kind == SettingKind.FLAG]


async def change(conn: Conn, changes: Mapping[str, str], *, by: str) -> list[Setting]:
    """Change settings, all or none, in the caller's transaction; return all settings afterwards.

    Raises:
        InvalidField: the setting named is unknown, or the value is invalid.
    """
    await _change(conn, changes, {each.name for each in await list_all(conn)}, by=by)
    return await list_all(conn)


async def switch(conn: Conn, flags: Mapping[str, bool], *, by: str) -> list[Setting]:
    """Switch flags, all or none, in the caller's transaction; return all flags afterwards.

    Raises:
        InvalidField: the flag named is unknown.
    """
    words = {name: "on" if is_on else "off" for name, is_on in flags.items()}
    await _change(conn, words, {each.name for each in await list_flags(conn)}, by=by)
    return await list_flags(conn)


async def retention_of(conn: Conn, project_id: UUID) -> list[ProjectRetention]:
    """Return how long each kind of record of a project is kept."""
    return await store.project_retention(conn, project_id)


async def _change(conn: Conn, changes: Mapping[str, str], known: set[str], *, by: str) -> None:
    for name in sorted(changes):  # in one order, so that concurrent changes cannot deadlock
        if name not in known:
            raise InvalidField(name[:100], f"must be one of {', '.join(sorted(known))}")
        await store.change_setting(conn, name, to=changes[name], by=by)
