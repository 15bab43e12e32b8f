"""A Postfix that relays mail for a bounce domain by LMTP, and bounces other mail."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.docs.reading import blocks
from tests.whole.postfix import make_home, relay

GONE = "gone.example.net"


@contextmanager
def bouncing(home: Path, *, domain: str, listener: int, refusing: int) -> Iterator[int]:
    """Run a Postfix before the listener, as the documentation sets one up; yield its port.

    Mail for GONE it hands to a server that refuses it.
    """
    make_home(home)
    [documented] = [one.text for one in blocks("text") if "relay_domains" in one.text]
    lines = documented.replace("bounces.example.com", domain).replace("2526", str(listener))
    lines = lines.replace("inline:{ ", f"inline:{{ {GONE}=smtp:[127.0.0.1]:{refusing}, ")
    with relay(home, name="mx.example.com", documented=lines) as port:
        yield port
