"""States that a person takes along to Google or Slack: random, used once, stored as a hash.

A state that was begun on a page of persons is good only in the browser that has the same session
(RFC 6819 section 4.4.1.8), while that lasts: a person who begins a consent and sends the address to
another one gets nothing of that one's. A state that was begun over the API or the command line is
good in any browser, as the application hands it on.
"""

import hashlib
import secrets
from collections.abc import Mapping

from mailqueue.core.secret import Secret

SESSION_COOKIE = "inbox_session_"
"""Beginning of the name of the cookie with a person's session, behind a prefix of browsers."""
HOST_PREFIX = "__Host-"
"""With this prefix a browser refuses a cookie from other hosts and without encryption."""
MAX_STATE_CHARACTERS = 200
MAX_SESSIONS = 10
"""Sessions of a browser, each in another project, that are tried."""
_STATE_BYTES = 32
_MAX_TOKEN_CHARACTERS = 100


def new_state() -> str:
    """Return a new state."""
    return secrets.token_urlsafe(_STATE_BYTES)


def hash_of(state: str, session: Secret | None = None) -> bytes:
    """Return what is stored of a state; with a session it is good in its browser alone. Pure."""
    bound = "" if session is None else f"\0{session.reveal()}"
    return hashlib.sha256(f"{state}{bound}".encode("utf-8", "surrogatepass")).digest()


def hashes_of(
    state: str, cookies: Mapping[str, str], *, is_encrypted: bool
) -> list[tuple[bytes, Secret | None]]:
    """Return what may be stored of a state that a browser brings back, and of which session.

    There is none of a text that is no state. Where the browser is reached by HTTPS, its sessions
    are in cookies with the prefix: one without it may be from another host of the domain.
    """
    if not 0 < len(state) <= MAX_STATE_CHARACTERS or "\0" in state:
        return []
    begin = f"{HOST_PREFIX if is_encrypted else ''}{SESSION_COOKIE}"
    sessions = [
        Secret(token)
        for name, token in cookies.items()
        if name.startswith(begin) and 0 < len(token) <= _MAX_TOKEN_CHARACTERS
    ]
    bound = [(hash_of(state, one), one) for one in sessions[:MAX_SESSIONS]]
    return [(hash_of(state), None), *bound]
