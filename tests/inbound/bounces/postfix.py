"""A Postfix that relays mail for a bounce domain by LMTP, and bounces other mail."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.docs.reading import blocks
from tests.whole.postfix import make_home, running

GONE = "gone.example.net"
_MAIN = """\
compatibility_level = 3.6
queue_directory = {home}/queue
data_directory = {home}/data
maillog_file = {home}/postfix.log
maillog_file_prefixes = {home}
myhostname = mx.example.com
mydestination =
mynetworks = 127.0.0.0/8
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
smtpd_peername_lookup = no
alias_maps =
alias_database =
smtp_dns_support_level = disabled
{documented}
minimal_backoff_time = 1s
maximal_backoff_time = 2s
queue_run_delay = 1s
"""
_MASTER = """\
127.0.0.1:{port} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 1 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
error unix - - n - - error
retry unix - - n - - error
smtp unix - - n - - smtp
lmtp unix - - n - - lmtp
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
proxymap unix - - n - - proxymap
postlog unix-dgram n - n - 1 postlogd
"""


@contextmanager
def bouncing(home: Path, *, domain: str, listener: int, refusing: int) -> Iterator[int]:
    """Run a Postfix before the listener, as the documentation sets one up; yield its port.

    Mail for GONE it hands to a server that refuses it.
    """
    make_home(home)
    [documented] = [one.text for one in blocks("text") if "relay_domains" in one.text]
    lines = documented.replace("bounces.example.com", domain).replace("2526", str(listener))
    lines = lines.replace("inline:{ ", f"inline:{{ {GONE}=smtp:[127.0.0.1]:{refusing}, ")
    with running(home, main=_MAIN.format(home=home, documented=lines), master=_MASTER) as port:
        yield port
