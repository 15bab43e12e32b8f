"""The header with a customer-held key: used for one request and never stored."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta

from starlette.requests import Request

from mailqueue.api.http.context import RequestContext
from mailqueue.core.errors import ConfigError, Conflict, InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.vault import ownkey
from mailqueue.vault.masterkey import MasterKey, master_key_of, parse_key
from mailqueue.vault.model import OwnKey

KEK = "X-Project-KEK"
NEW_KEK = "X-Project-New-KEK"
_MAX_CHARACTERS = 200
_MOMENT = timedelta(minutes=1)


def own_key_of(request: Request, name: str = KEK) -> OwnKey | None:
    """Return the key and remove it from the headers, so that it is not logged.

    Raises:
        InvalidField: the value is not a key; it is not repeated in the message.
    """
    wanted = name.lower().encode()
    given = [text for header, text in request.scope["headers"] if header == wanted]
    if not given:
        return None
    request.scope["headers"] = [
        (header, b"***" if header == wanted else text) for header, text in request.scope["headers"]
    ]
    try:
        text = given[0].decode("ascii")
        if len(given) == 1 and len(text) <= _MAX_CHARACTERS:
            return OwnKey(parse_key(text, source=name))
    except (UnicodeDecodeError, ConfigError):
        pass
    raise InvalidField(name, "must be 32 bytes in base64 or hexadecimal digits") from None


def require_key(request: Request, name: str = KEK) -> OwnKey:
    """Return the key and remove it from the headers.

    Raises:
        InvalidField: the header is missing.
    """
    found = own_key_of(request, name)
    if found is None:
        raise InvalidField(name, "is required: the project's own key")
    return found


def platform_key(call: RequestContext) -> MasterKey:
    """Return the master key of this installation.

    Raises:
        Conflict: it has none, so secrets cannot be encrypted.
    """
    found = master_key_of(call.settings)
    if found is None:
        raise Conflict("this installation has no master key: set MAILQUEUE_MASTER_KEY")
    return found


@contextmanager
def refused_as_header() -> Iterator[None]:
    """Turn the error of a wrong key into one that names its header."""
    try:
        yield
    except InvalidField as exc:
        if exc.field != "key":
            raise
        raise exc.named(KEK) from None


@asynccontextmanager
async def unlocked(call: RequestContext, own: OwnKey | None, conn: Conn) -> AsyncIterator[None]:
    """Unlock a project's secrets within the block, for its transaction only.

    Does nothing without a key, or if the project is not locked.

    Raises:
        InvalidField: this is not the project's key.
    """
    project = call.caller.project
    vaults = await ownkey.list_vaults(conn, project=project) if own is not None else []
    if own is None or not any(vault.is_locked for vault in vaults):
        yield
        return
    with refused_as_header():
        await ownkey.unlock(
            conn, project, own=own, master=platform_key(call), lasts=_MOMENT, by=call.by
        )
    yield
    await ownkey.lock(conn, project, by=call.by)
