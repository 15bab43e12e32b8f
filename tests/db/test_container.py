"""`--image` runs the tests on a container; the engine here is a simulation with one server."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql
from testcontainers.core.config import ConnectionMode, testcontainers_config

from tests.conftest import Server
from tests.container import NoEngine, postgresql_of

ID = "0123456789abcdef"
IMAGE = "postgres:17"


class Engine(ThreadingHTTPServer):
    """Docker's API for one container, whose port leads to a server of the tests."""

    def __init__(self, superuser: str) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.superuser = superuser
        self.created: dict[str, Any] = {}
        self.calls: list[str] = []

    def create(self, request: dict[str, Any]) -> None:
        """Create a superuser, as the image does with its variables."""
        self.created = request
        values = dict(each.split("=", 1) for each in request["Env"])
        made = sql.SQL("CREATE ROLE {} SUPERUSER LOGIN PASSWORD {}").format(
            sql.Identifier(values["POSTGRES_USER"]), sql.Literal(values["POSTGRES_PASSWORD"])
        )
        with psycopg.connect(self.superuser, autocommit=True) as conn:
            conn.execute(made)


class Answers(BaseHTTPRequestHandler):
    server: Engine
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = re.sub(r"^/v[\d.]+", "", urlsplit(self.path).path)
        self.server.calls.append(f"{self.command} {path}")
        if path == "/version":
            self._say({"ApiVersion": "1.48", "Version": "28.2.2"})
        elif path == f"/images/{IMAGE}/json":
            self._say({"Id": "sha256:1", "RepoTags": [IMAGE]})
        elif path == "/networks":
            self._say([])
        elif path == "/containers/create":
            self.server.create(json.loads(body))
            self._say({"Id": ID, "Warnings": []}, 201)
        elif path == f"/containers/{ID}/json":
            port = str(urlsplit(self.server.superuser).port)
            mapped = [{"HostIp": "127.0.0.1", "HostPort": port}]
            state = {"Status": "running", "Running": True}
            self._say(
                {"Id": ID, "State": state, "NetworkSettings": {"Ports": {"5432/tcp": mapped}}}
            )
        else:
            self._say({}, 204 if self.command in ("POST", "DELETE") else 404)

    do_GET = do_POST = do_DELETE = _answer  # noqa: N815

    def _say(self, value: object, status: int = 200) -> None:
        text = b"" if status == 204 else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def engine(server: Server) -> Iterator[Engine]:
    running = Engine(server.superuser)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    try:
        yield running
    finally:
        running.shutdown()
        thread.join()
        running.server_close()


def test_an_image_gives_a_server_and_is_removed_afterwards(
    bare_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(testcontainers_config, "ryuk_disabled", True)
    monkeypatch.setattr(
        testcontainers_config, "connection_mode_override", ConnectionMode.docker_host
    )
    with engine(bare_server) as docker:
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{docker.server_port}")

        with postgresql_of(IMAGE, {"fsync": "off"}) as url, psycopg.connect(url) as conn:
            row = conn.execute("SELECT rolsuper FROM pg_roles WHERE rolname = user").fetchone()

    assert row == (True,)
    assert docker.created["Image"] == IMAGE
    assert docker.created["Cmd"] == ["postgres", "-c", "fsync=off"]
    assert docker.calls[-1] == f"DELETE /containers/{ID}"


def test_a_machine_without_an_engine_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testcontainers_config, "ryuk_disabled", True)
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")

    with pytest.raises(NoEngine, match="--image postgres:17 needs a container engine"):
        postgresql_of(IMAGE, {}).__enter__()
