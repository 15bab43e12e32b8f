"""Debian's RabbitMQ, started for tests: on loopback, with data and a port mapper of its own."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mailqueue.embedded.ports import free_port
from tests.smtp.certificates import client_certificate, server_context

_PATIENCE_SECONDS = 90.0
_SETTINGS = """
listeners.tcp.1 = 127.0.0.1:{port}
disk_free_limit.absolute = 1MB
vm_memory_high_watermark.absolute = 512MB
log.console = true
log.file = false
"""
_FURTHER = """
frame_max = 4000000
listeners.ssl.1 = 127.0.0.1:{port}
ssl_options.certfile = {folder}/certificate.pem
ssl_options.keyfile = {folder}/key.pem
ssl_options.cacertfile = {folder}/certificate.pem
ssl_options.verify = verify_peer
ssl_options.fail_if_no_peer_cert = true
"""
_ERLANG = "+S 1:1 +sbwt none -start_epmd false -kernel inet_dist_use_interface {127,0,0,1}"


def _program() -> Path | None:
    found = Path("/usr/lib/rabbitmq/lib").glob("rabbitmq_server-*/sbin/rabbitmq-server")
    return next(iter(sorted(found)), None)


def lacks_rabbitmq() -> str | None:
    """Return why no broker can be run here."""
    return "no rabbitmq-server here" if _program() is None else None


class RabbitServer:
    """A broker that keeps its queues when it is stopped and started again. Mutable."""

    def __init__(self, folder: Path, *, has_large_frames_and_tls: bool = False) -> None:
        """Prepare; `folder` has everything that it writes."""
        self.port = free_port()
        self.tls_port = free_port()
        self.certificate = folder / "certificate.pem"
        self.client_certificate = folder / "client.pem"
        self.client_key = folder / "client-key.pem"
        self._folder = folder
        self._mapper_port = free_port()
        self._distribution_port = free_port()
        self._mapper: subprocess.Popen[bytes] | None = None
        self._server: subprocess.Popen[bytes] | None = None
        folder.mkdir()
        text = _SETTINGS.format(port=self.port)
        if has_large_frames_and_tls:
            server_context(folder, name="127.0.0.1")
            client_certificate(folder, name="mailqueue")
            text += _FURTHER.format(port=self.tls_port, folder=folder)
        (folder / "rabbitmq.conf").write_text(text)
        (folder / "enabled_plugins").write_text("[].\n")

    @property
    def url(self) -> str:
        """Return the URL of its virtual host."""
        return f"amqp://guest:guest@127.0.0.1:{self.port}/%2F"

    @property
    def tls_url(self) -> str:
        """Return the same over TLS, where it has TLS."""
        return f"amqps://guest:guest@127.0.0.1:{self.tls_port}/%2F"

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        program = _program()
        assert program is not None
        environment = os.environ | {
            "HOME": str(self._folder),
            "ERL_EPMD_PORT": str(self._mapper_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"test{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(self._distribution_port),
            "RABBITMQ_MNESIA_BASE": str(self._folder / "data"),
            "RABBITMQ_LOG_BASE": str(self._folder / "log"),
            "RABBITMQ_CONFIG_FILE": str(self._folder / "rabbitmq"),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self._folder / "enabled_plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": _ERLANG,
        }
        with (self._folder / "output").open("ab") as output:
            if self._mapper is None:
                # Otherwise the first node starts one that stays.
                self._mapper = subprocess.Popen(
                    ["/usr/bin/epmd", "-port", str(self._mapper_port), "-address", "127.0.0.1"],
                    stdout=output,
                    stderr=output,
                )
            self._server = subprocess.Popen(
                [str(program)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._is_listening():
            if self._server.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"it did not start:\n{self.output()[-3000:]}")
            time.sleep(0.05)

    def kill(self) -> None:
        """End it as kill -9 does."""
        assert self._server is not None
        for pid in [*_children(self._server.pid), self._server.pid]:
            os.kill(pid, signal.SIGKILL)
        self._server.wait()
        self._server = None

    def stop(self) -> None:
        """Stop it in order."""
        assert self._server is not None
        for pid in _children(self._server.pid):
            os.kill(pid, signal.SIGTERM)
        self._server.wait(_PATIENCE_SECONDS)
        self._server = None

    @contextmanager
    def silenced(self) -> Iterator[None]:
        """Let it keep its connections and answer nothing during the block."""
        assert self._server is not None
        group = os.getpgid(self._server.pid)
        os.killpg(group, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(group, signal.SIGCONT)

    def close(self) -> None:
        """End everything that was started."""
        if self._server is not None:
            self.kill()
        if self._mapper is not None:
            self._mapper.kill()
            self._mapper.wait()

    def output(self) -> str:
        """Return what it wrote."""
        return (self._folder / "output").read_text(errors="replace")

    def _is_listening(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


def _children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextmanager
def rabbit_server(
    folder: Path, *, has_large_frames_and_tls: bool = False
) -> Iterator[RabbitServer]:
    """Run a broker during the block."""
    server = RabbitServer(folder, has_large_frames_and_tls=has_large_frames_and_tls)
    try:
        server.start()
        yield server
    finally:
        server.close()
