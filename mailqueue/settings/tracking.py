"""Where the links in mail lead: the address under which people reach this installation. Values."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\]")


@dataclass(frozen=True, slots=True)
class TrackingSettings:
    """What makes links in mail; without an address mail has none of ours."""

    public_url: str | None = None  # no slash at its end


def parse_public_url(text: str) -> str:
    """Return an address without the slash at its end: https, or http on this machine.

    Raises:
        ValueError: if it is no such address, or holds a login, a query or more.
    """
    if not text.isascii() or not text.isprintable() or re.search(r"[\s\\\"'<>&]", text):
        raise ValueError("must be an https address without odd characters")
    if len(text) > 200:  # with a token behind it lines stay short enough for mail
        raise ValueError("must have at most 200 characters")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as exc:
        raise ValueError(f"must be an address: {exc}") from None
    host = (parts.hostname or "") if "[" not in parts.netloc else f"[{parts.hostname}]"
    if parts.scheme != "https" and not (parts.scheme == "http" and is_here(parts.hostname)):
        raise ValueError("must begin with https:// (http:// only on this machine)")
    if "@" in parts.netloc or "?" in text or "#" in text or not _HOST.fullmatch(host):
        raise ValueError("must be https://host or https://host/path, without login, query or more")
    where = host if port is None else f"{host}:{port}"
    return f"{parts.scheme}://{where}{parts.path.rstrip('/')}"


def is_here(host: str | None) -> bool:
    """Return whether a host is this machine by its name alone."""
    try:
        return host == "localhost" or ip_address(host or "").is_loopback
    except ValueError:
        return False
