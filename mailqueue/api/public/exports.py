"""`/exports/{token}`: files of exports, by a signed link."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from mailqueue.analytics.exports import fetching, links, requests
from mailqueue.api.analytics.exports import file_response
from mailqueue.api.http.runtime import Runtime
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.tracking.keyring import Keyring
from mailqueue.tracking.tokens import InvalidToken

_BY = "signed link"
"""Actor in the audit."""


class ExportFiles:
    """The endpoint; a link that is invalid, over or without its file is answered alike."""

    def __init__(self, runtime: Runtime, keyring: Keyring) -> None:
        self._runtime = runtime
        self._keyring = keyring

    async def respond(self, request: Request) -> Response:
        """Return the file.

        Raises:
            NotFound: there is no such file, or the link has ended.
        """
        try:
            token = links.read_token(request.path_params["token"])
            async with self._runtime.borrow() as conn:
                seals = await self._keyring.signer(conn, token.key_id)
            if seals is None or not token.is_proved(seals, now=datetime.now(UTC)):
                raise InvalidToken
            project_id = seals.project_id
            lend: Callable[[], AbstractAsyncContextManager[Conn]] = partial(
                self._runtime.transaction, project_id, by=_BY
            )
            async with lend() as conn:
                export = await requests.find(conn, project_id, token.export_id)
            pieces = await fetching.begin_file(lend, project_id, export, by=_BY)
        except (InvalidToken, NotFound, Conflict):
            raise NotFound("file", "at this link", "it may have ended") from None
        return file_response(export, pieces)
