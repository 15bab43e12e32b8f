"""`mailqueue status --url`: whether an API answers, and whether it accepts mail."""

import json
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from mailqueue.contract.infrastructure import ServerReadiness
from mailqueue.core.errors import InvalidField

SECONDS = 5.0
"""Time for the connection and for each answer."""
MAX_BYTES = 64 * 1024
"""Bytes of an answer that are read."""
MAX_SHOWN = 500
"""Characters of a reason that are shown."""


def readiness_of(url: str) -> ServerReadiness:
    """Return what an API or a metrics port says of itself, by `/livez` and `/readyz`.

    No redirect is followed, and no key is sent.

    Raises:
        InvalidField: it is no URL of a server.
    """
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in ("http", "https") or not parts.hostname or port == -1:
        raise InvalidField("--url", "must be the URL of an API, such as http://127.0.0.1:8025")
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname, port, timeout=SECONDS)
    shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    try:
        path = parts.path.rstrip("/")
        status, answer = _asked(connection, f"{path}/livez")
        if status != HTTPStatus.OK:
            why = f"/livez answers {status}: no mailqueue, or not its API"
            return ServerReadiness(shown, False, False, why)
        status, answer = _asked(connection, f"{path}/readyz")
    except (OSError, HTTPException, ValueError) as exc:
        return ServerReadiness(shown, False, False, f"no answer: {exc}"[:MAX_SHOWN])
    finally:
        connection.close()
    if status == HTTPStatus.OK:
        return ServerReadiness(shown, True, True, None)
    if status == HTTPStatus.NOT_FOUND:
        why = "it answers no /readyz: a metrics port of a process that accepts no mail"
        return ServerReadiness(shown, True, False, why)
    return ServerReadiness(shown, True, False, _reason_in(answer) or f"/readyz answers {status}")


def _asked(connection: HTTPConnection, path: str) -> tuple[int, bytes]:
    connection.request("GET", path, headers={"Accept": "application/json"})
    response = connection.getresponse()
    answer = response.read(MAX_BYTES)
    if response.read(1):
        raise ValueError(f"{path} answers with more than {MAX_BYTES} bytes")
    return response.status, answer


def _reason_in(answer: bytes) -> str | None:
    """Return the message of an error of the API, in printable characters. Pure."""
    try:
        said = json.loads(answer)
    except ValueError:
        return None
    message = said.get("message") if isinstance(said, dict) else None
    if not isinstance(message, str):
        return None
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in message)[
        :MAX_SHOWN
    ]
