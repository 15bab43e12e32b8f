"""Changes a connection string before libpq reads it: `pool_max`, the password of a file. Pure."""

import re
from urllib.parse import quote

_SCHEMES = ("postgresql://", "postgres://")
_KEYWORD = re.compile(r"(?:^|\s)pool_max\s*=\s*('[^']*'|\S*)")


def take_pool_max(dsn: str) -> tuple[str, int | None]:
    """Return the connection string without `pool_max`, and the value of `pool_max` or None.

    Raises:
        ValueError: `pool_max` is not a whole number above zero.
    """
    if dsn.startswith(_SCHEMES):
        return _from_url(dsn)
    found = _KEYWORD.search(dsn)
    if found is None:
        return dsn, None
    rest = dsn[: found.start()] + dsn[found.end() :]
    return rest.strip(), _pool_max(found[1].strip("'"))


def with_password(dsn: str, password: str) -> str:
    """Return the connection string with a password; it takes precedence over one in the string."""
    if dsn.startswith(_SCHEMES):
        return f"{dsn}{'&' if '?' in dsn else '?'}password={quote(password, safe='')}"
    escaped = password.replace("\\", "\\\\").replace("'", "\\'")
    return f"{dsn} password='{escaped}'".lstrip()


def _from_url(dsn: str) -> tuple[str, int | None]:
    # Cut, not rebuilt: the rest stays unchanged byte for byte, with its escapes.
    before, mark, query = dsn.partition("?")
    options = query.split("&") if mark else []
    ours = [option for option in options if option.startswith("pool_max=")]
    if not ours:
        return dsn, None
    rest = "&".join(option for option in options if option not in ours)
    return before + (f"?{rest}" if rest else ""), _pool_max(ours[-1].removeprefix("pool_max="))


def _pool_max(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ValueError(f"pool_max must be a whole number above zero, got {text!r}")
    return int(text)
