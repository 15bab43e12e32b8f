"""A Postfix in its own folder, and its smtp-sink; the machine's Postfix is not touched."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mailqueue.embedded.ports import free_port
from mailqueue.embedded.service_user import Account
from tests.whole.machine import POSTFIX, smtp_sink
from tests.whole.running import eventually

DOMAIN = "mailbox.example"
_STARTS = 3

_MAIN = """\
compatibility_level = 3.6
queue_directory = {home}/queue
data_directory = {home}/data
mail_spool_directory = {home}/spool/
maillog_file = {home}/postfix.log
maillog_file_prefixes = {home}
myhostname = {domain}
mydestination = {domain}
mynetworks = 127.0.0.0/8
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
smtpd_peername_lookup = no
alias_maps =
alias_database =
local_recipient_maps =
recipient_delimiter = +
mailbox_size_limit = 0
biff = no
"""
# service, type, private, unprivileged, chroot, wake-up, limit, command
_MASTER = """\
127.0.0.1:{port} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
error unix - - n - - error
retry unix - - n - - error
local unix - n n - - local
anvil unix - - n - 1 anvil
tlsmgr unix - - n 1000? 1 tlsmgr
proxymap unix - - n - - proxymap
postlog unix-dgram n - n - 1 postlogd
"""
_RELAY_MAIN = """\
compatibility_level = 3.6
queue_directory = {home}/queue
data_directory = {home}/data
maillog_file = {home}/postfix.log
maillog_file_prefixes = {home}
myhostname = {name}
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
_RELAY_MASTER = """\
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
tlsmgr unix - - n 1000? 1 tlsmgr
scache unix - - n - 1 scache
proxymap unix - - n - - proxymap
postlog unix-dgram n - n - 1 postlogd
"""


@dataclass(frozen=True, slots=True)
class Files:
    """A server that stores each message as a file; `added` is the text it appends."""

    port: int
    folder: Path
    added: bytes = b""

    def messages(self) -> list[bytes]:
        """Return the delivered messages, with line ends as on the wire."""
        written = (path.read_bytes() for path in self.folder.iterdir())
        return [each.removesuffix(self.added).replace(b"\n", b"\r\n") for each in written]

    def __len__(self) -> int:
        return len(os.listdir(self.folder)) if self.folder.exists() else 0


def make_home(home: Path) -> None:
    """Create the folders that Postfix's programs need."""
    home.mkdir()
    home.chmod(0o755)
    for name, owner, mode in (
        ("config", "root", 0o755),
        ("queue", "root", 0o755),
        ("data", "postfix", 0o700),
        ("spool", "root", 0o1777),
    ):
        (home / name).mkdir()
        (home / name).chmod(mode)
        shutil.chown(home / name, owner)


@contextmanager
def running(home: Path, *, main: str, master: str) -> Iterator[int]:
    """Run a Postfix until the block ends; yield its port, which is {port} in `master`."""
    (home / "config" / "main.cf").write_text(main)
    command = [str(POSTFIX), "-c", str(home / "config")]
    port = _started(command, home, master)
    try:
        eventually(lambda: _answers(port))
        yield port
    finally:
        done = _run([*command, "stop"])
        assert done.returncode == 0, done.stderr


@contextmanager
def relay(home: Path, *, name: str, documented: str) -> Iterator[int]:
    """Run a Postfix of this host name that relays mail as documented lines say; yield its port."""
    main = _RELAY_MAIN.format(home=home, name=name, documented=documented)
    with running(home, main=main, master=_RELAY_MASTER) as port:
        yield port


@contextmanager
def postfix(home: Path, user: str) -> Iterator[Files]:
    """Run a Postfix that delivers mail to DOMAIN into a maildir of a user of this machine."""
    make_home(home)
    main = _MAIN.format(home=home, domain=DOMAIN)
    with running(home, main=main, master=_MASTER) as port:
        yield Files(port, home / "spool" / user / "new")


@contextmanager
def sinking(folder: Path, account: Account) -> Iterator[Files]:
    """Run smtp-sink, which writes each message to a file; it does not run as root."""
    program = smtp_sink()
    assert program is not None
    port = free_port()
    folder.mkdir()
    account.own(folder)
    user = [] if account.is_me else ["-u", account.name]
    command = [program, *user, "-d", str(folder / "mail."), f"127.0.0.1:{port}", "100"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=folder) as process:
        try:
            eventually(lambda: _answers(port))
            yield Files(port, folder, added=b"\n")
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as conn:
            return conn.recv(3) == b"220"
    except OSError:
        return False


def _started(command: list[str], home: Path, master: str) -> int:
    """Start it; return its port. On a busy machine it may give up: then start it again."""
    said = ""
    for _ in range(_STARTS):
        port = free_port()
        (home / "config" / "master.cf").write_text(master.format(port=port))
        done = _run([*command, "start"])
        if done.returncode == 0:
            return port
        log = home / "postfix.log"
        said = done.stderr + (log.read_text() if log.exists() else "")
        _run([*command, "stop"])
    raise AssertionError(f"postfix did not start: {said}")


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
