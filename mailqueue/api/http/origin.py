"""The origin of URLs in responses: never the request's Host header, which the client chooses."""

from starlette.types import Scope


def origin_of(scope: Scope, public_url: str | None) -> str:
    """Return the configured public URL, else the address of the socket that was connected to."""
    if public_url is not None:
        return public_url
    host, port = scope.get("server") or ("127.0.0.1", None)
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}" if port is None else f"http://{shown}:{port}"
