"""Settings of links in emails: the public URL of this installation. Values."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\]")


@dataclass(frozen=True, slots=True)
class TrackingSettings:
    """The base URL of links, and where opens come from.

    Without a base URL, emails contain no links of this installation.
    """

    public_url: str | None = None  # without a final slash
    country_file: Path | None = None  # MaxMind's format: countries of the networks of opens


def parse_public_url(text: str) -> str:
    """Return a URL without a final slash: https, or http on this host.

    Raises:
        ValueError: it is not such a URL, or has a login, a query or a fragment.
    """
    if not text.isascii() or not text.isprintable() or re.search(r"[\s\\\"'<>&]", text):
        raise ValueError("must be an https URL without invalid characters")
    if len(text) > 200:  # so that lines with a token fit the limits of mail
        raise ValueError("must have at most 200 characters")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as exc:
        raise ValueError(f"must be a URL: {exc}") from None
    host = (parts.hostname or "") if "[" not in parts.netloc else f"[{parts.hostname}]"
    if parts.scheme != "https" and not (parts.scheme == "http" and is_here(parts.hostname)):
        raise ValueError("must begin with https:// (http:// on this host only)")
    if "@" in parts.netloc or "?" in text or "#" in text or not _HOST.fullmatch(host):
        raise ValueError(
            "must be https://host or https://host/path, without login, query or fragment"
        )
    where = host if port is None else f"{host}:{port}"
    return f"{parts.scheme}://{where}{parts.path.rstrip('/')}"


def is_here(host: str | None) -> bool:
    """Return whether a host name stands for this host."""
    try:
        return host == "localhost" or ip_address(host or "").is_loopback
    except ValueError:
        return False
