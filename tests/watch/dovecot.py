"""Debian's Dovecot as a private process on loopback: a real IMAP server."""

import asyncio
import imaplib
import os
import pwd
import shutil
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

DOVECOT = Path("/usr/sbin/dovecot")
USER, PASSWORD = "ann@example.com", 'pässword \\ " 1'
CONFIG = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <{folder}/cert.pem
ssl_key = <{folder}/key.pem
disable_plaintext_auth = no
auth_mechanisms = plain
auth_username_chars =
mail_location = maildir:{folder}/mail
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
first_valid_uid = 1
passdb {{
  driver = passwd-file
  args = scheme=PLAIN {folder}/users
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={folder}/mail
}}
namespace inbox {{
  inbox = yes
  separator = /
  mailbox Junk {{
    auto = create
    special_use = \\Junk
  }}
  mailbox Rechnungen {{
    auto = create
  }}
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = {tls_port}
  }}
}}
service anvil {{
  chroot =
}}
service stats {{
  chroot =
}}
"""


def lacks_dovecot() -> str | None:
    """Return why Dovecot cannot run here, or None."""
    if not DOVECOT.exists() or not Path("/usr/lib/dovecot/imap").exists():
        return "no dovecot-imapd here"
    if os.geteuid() != 0:
        return "Dovecot starts as root only"
    return None


@dataclass(frozen=True, slots=True)
class Dovecot:
    """Ports of a running server, and the context that trusts its certificate."""

    port: int
    tls_port: int
    context: ssl.SSLContext

    def add(self, octets: bytes, *, folder: str = "INBOX") -> None:
        """Deliver a message into a folder."""
        with self._client() as client:
            assert client.append(folder, "", "", octets)[0] == "OK"

    def copy(self, folder: str) -> None:
        """Copy the last message of the inbox into a folder."""
        with self._client() as client:
            _, found = client.select("INBOX")
            assert found[0] is not None
            assert client.copy(found[0].decode(), folder)[0] == "OK"

    def move_from(self, folder: str) -> None:
        """Move all messages of a folder into the inbox."""
        with self._client() as client:
            client.select(folder)
            assert client.uid("MOVE", "1:*", "INBOX")[0] == "OK"

    @contextmanager
    def _client(self) -> Iterator[imaplib.IMAP4]:
        client = imaplib.IMAP4("127.0.0.1", self.port, timeout=10)
        try:
            client.authenticate("PLAIN", lambda _: f"\0{USER}\0{PASSWORD}".encode())
            yield client
        finally:
            client.logout()


@contextmanager
def dovecot(folder: Path) -> Iterator[Dovecot]:
    """Run a server with one empty mailbox during the block."""
    account = pwd.getpwnam("nobody")
    for name in ("run", "state", "mail"):
        (folder / name).mkdir()
    (folder / "users").write_text(f"{USER}:{{PLAIN}}{PASSWORD}\n")
    make_certificate(folder)
    port, tls_port = free_port(), free_port()
    (folder / "dovecot.conf").write_text(
        CONFIG.format(
            folder=folder,
            port=port,
            tls_port=tls_port,
            user=account.pw_name,
            group=_group(account.pw_gid),
            uid=account.pw_uid,
            gid=account.pw_gid,
        )
    )
    for path in [folder, *folder.parents]:  # the server's user has to reach the mail
        if not path.stat().st_mode & 0o001:
            path.chmod(path.stat().st_mode | 0o011)
    for name in ("state", "mail", "users"):
        shutil.chown(folder / name, account.pw_uid, account.pw_gid)
    command = [str(DOVECOT), "-F", "-c", str(folder / "dovecot.conf")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port, folder / "log")
        context = ssl.create_default_context(cafile=str(folder / "cert.pem"))
        yield Dovecot(port, tls_port, context)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def _group(gid: int) -> str:
    import grp

    return grp.getgrgid(gid).gr_name


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def make_certificate(folder: Path) -> None:
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )


def wait_for(port: int, log: Path) -> None:
    """Wait until the server takes connections.

    Raises:
        RuntimeError: it does not, with what it logged.
    """
    for _ in range(200):
        with socket.socket() as one:
            one.settimeout(1)
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        asyncio.run(asyncio.sleep(0.05))
    raise RuntimeError(f"dovecot did not start: {log.read_text() if log.exists() else 'no log'}")
