"""A Postfix that relays all its mail to the submission server."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.submission.programs import RunningSubmission, documented_lines
from tests.whole.postfix import make_home, running
from tests.whole.running import eventually

_MAIN = """\
compatibility_level = 3.6
queue_directory = {home}/queue
data_directory = {home}/data
maillog_file = {home}/postfix.log
maillog_file_prefixes = {home}
myhostname = relay.example.com
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
anvil unix - - n - 1 anvil
tlsmgr unix - - n 1000? 1 tlsmgr
scache unix - - n - 1 scache
proxymap unix - - n - - proxymap
postlog unix-dgram n - n - 1 postlogd
"""


@contextmanager
def relaying(home: Path, smtp: RunningSubmission) -> Iterator[int]:
    """Run a Postfix before the server; yield its port."""
    make_home(home)
    certificate = home / "ca.pem"  # its own user reads it
    certificate.write_text(smtp.certificate.read_text().partition("-----BEGIN PRIVATE")[0])
    documented = (
        documented_lines("ini", holding="relayhost")
        .replace("2587", str(smtp.port))
        .replace("mq_live_…", smtp.key)
        .replace("/etc/postfix/submission.pem", str(certificate))
    )
    main = _MAIN.format(home=home, documented=documented)
    with running(home, main=main, master=_MASTER) as port:
        yield port


def is_empty(home: Path) -> bool:
    """Return whether Postfix has relayed everything."""
    queue = home / "queue"
    return not any(
        path.is_file()
        for part in ("incoming", "active", "deferred", "maildrop")
        for path in (queue / part).rglob("*")
    )


def handed_on(home: Path) -> None:
    """Wait until Postfix has relayed everything."""
    eventually(lambda: is_empty(home))
