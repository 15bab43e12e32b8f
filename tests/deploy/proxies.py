"""nginx and Caddy with the files of `deploy`, on loopback, each in a folder of its own."""

import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPResponse, HTTPSConnection
from pathlib import Path

from mailqueue.embedded.ports import free_port
from tests.smtp.certificates import server_context, trusting_context

ROOT = Path(__file__).resolve().parents[2]
NGINX_CONF = ROOT / "deploy" / "nginx" / "mailqueue.conf"
CADDYFILE = ROOT / "deploy" / "caddy" / "Caddyfile"
API, CONSOLE, LINKS = "api.example.com", "console.example.com", "links.example.com"
PORTS = {API: 8025, LINKS: 8026, CONSOLE: 8081}
"""The ports of mailqueue that the files name."""
CLIENT = "127.9.9.9"
"""The address of clients: another than that of the proxy."""
_PATIENCE_SECONDS = 60.0
_NGINX = """
{user}
daemon off;
pid {folder}/pid;
error_log {folder}/log/error.log;
events {{ worker_connections 200; }}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/mailqueue.conf;
}}
"""


def lacks_nginx() -> str | None:
    """Return why nginx cannot be run here."""
    return None if _nginx() else "no nginx here"


def lacks_caddy() -> str | None:
    """Return why Caddy cannot be run here."""
    return None if shutil.which("caddy") else "no caddy here"


def _nginx() -> str | None:
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A running proxy."""

    folder: Path
    plain: int
    """Port of HTTP."""
    secure: int
    """Port of HTTPS."""
    trust: ssl.SSLContext

    @contextmanager
    def asking(
        self,
        name: str,
        path: str,
        *,
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[HTTPResponse]:
        """Yield the answer under a host name to a client at CLIENT; its body is still unread."""
        connection = _Connection(name, self.secure, self.trust)
        try:
            connection.connect()
            with suppress(OSError):  # a refusal may come before the whole body is sent
                connection.request(method, path, body=body, headers=dict(headers or {}))
            with connection.getresponse() as answer:
                yield answer
        finally:
            connection.close()

    def status(self, name: str, path: str, *, method: str = "GET") -> int:
        """Return the status of an answer."""
        with self.asking(name, path, method=method) as answer:
            answer.read()
            return answer.status

    def logged(self) -> str:
        """Return everything that it wrote to its logs."""
        files = [one for one in self.folder.glob("log/*") if one.is_file()]
        return "".join(one.read_text("utf-8", "replace") for one in files)


class _Connection(HTTPSConnection):
    """A connection to the proxy for a host name."""

    def __init__(self, name: str, port: int, trust: ssl.SSLContext) -> None:
        super().__init__(name, timeout=_PATIENCE_SECONDS, context=trust)
        self._at, self._trust = ("127.0.0.1", port), trust

    def connect(self) -> None:
        """Connect to the proxy whatever the name."""
        plain = socket.create_connection(self._at, _PATIENCE_SECONDS, source_address=(CLIENT, 0))
        try:
            self.sock = self._trust.wrap_socket(plain, server_hostname=self.host)
        except OSError:
            plain.close()
            raise


@contextmanager
def nginx(folder: Path, ports: Mapping[str, int]) -> Iterator[Proxy]:
    """Run nginx with our file, before the ports on which mailqueue serves each name."""
    trust = _certificates(folder, (API, CONSOLE, LINKS))
    plain, secure = free_port(), free_port()
    text = _at(NGINX_CONF.read_text(), ports)
    text = text.replace("listen 80", f"listen 127.0.0.1:{plain}")
    text = text.replace("listen 443", f"listen 127.0.0.1:{secure}")
    text = text.replace("/var/log/nginx", str(folder / "log"))
    text = text.replace("/etc/letsencrypt/live/api.example.com", str(folder))
    (folder / "mailqueue.conf").write_text(text)
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(_NGINX.format(folder=folder, user=user))
    command = [_nginx() or "", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    proxy = Proxy(folder, plain, secure, trust)
    with _running(command, proxy):
        yield proxy


@contextmanager
def caddy(folder: Path, ports: Mapping[str, int]) -> Iterator[Proxy]:
    """Run Caddy with our file, before the ports on which mailqueue serves each name."""
    trust = _certificates(folder, (API, CONSOLE, LINKS))
    plain, secure = free_port(), free_port()
    text = _at(CADDYFILE.read_text(), ports)
    own = f"\thttp_port {plain}\n\thttps_port {secure}\n\tdefault_bind 127.0.0.1\n"
    text = text.replace("{\n\tadmin off\n", f"{{\n\tadmin off\n{own}", 1)
    for name in ports:
        at = f"\n\ttls {folder}/fullchain.pem {folder}/privkey.pem\n"
        text = text.replace(f"\n{name} {{\n", f"\n{name} {{{at}")
    (folder / "Caddyfile").write_text(text)
    command = ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    proxy = Proxy(folder, plain, secure, trust)
    with _running(command, proxy, XDG_DATA_HOME=str(folder), XDG_CONFIG_HOME=str(folder)):
        yield proxy


PROXIES: Mapping[str, Callable[[Path, Mapping[str, int]], object]] = {
    "nginx": nginx,
    "caddy": caddy,
}


def _at(text: str, ports: Mapping[str, int]) -> str:
    for name, port in ports.items():
        text = text.replace(f"127.0.0.1:{PORTS[name]}", f"127.0.0.1:{port}")
        text = text.replace(f"import to_mailqueue {PORTS[name]}", f"import to_mailqueue {port}")
    return text


def _certificates(folder: Path, names: tuple[str, ...]) -> ssl.SSLContext:
    """Make the certificate that the files name; return the context of a client that trusts it."""
    (folder / "log").mkdir(parents=True)
    server_context(folder, name=names[0], others=names[1:])
    (folder / "certificate.pem").rename(folder / "fullchain.pem")
    (folder / "key.pem").rename(folder / "privkey.pem")
    shutil.copy(folder / "fullchain.pem", folder / "certificate.pem")
    return trusting_context(folder)


@contextmanager
def _running(command: list[str], proxy: Proxy, **variables: str) -> Iterator[None]:
    path = proxy.folder / "log" / "output"
    with path.open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={"PATH": os.environ["PATH"], "HOME": str(proxy.folder), **variables},
        )
    try:
        until = time.monotonic() + _PATIENCE_SECONDS
        while not _answers(proxy):
            if process.poll() is not None or time.monotonic() > until:
                raise AssertionError(path.read_text())
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def _answers(proxy: Proxy) -> bool:
    try:
        proxy.status(API, "/livez")
    except OSError:
        return False
    return True
