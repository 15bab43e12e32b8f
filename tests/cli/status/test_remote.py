"""`mailqueue status --url` asks an API over HTTP, and believes no more than it says."""

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner

from mailqueue.api.app import create_app
from mailqueue.api.http.server import bind, listening
from mailqueue.cli.main import main
from mailqueue.cli.status.remote import MAX_BYTES, readiness_of
from mailqueue.core.errors import InvalidField
from mailqueue.db.pool import connect, open_pool
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring.api import build_services
from tests.api.support.calling import settings_for

ALIVE = (200, b'{"status": "alive"}')


@contextmanager
def answering(answers: Mapping[str, tuple[int, bytes]]) -> Iterator[str]:
    """Serve these answers on a port of loopback; yield its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answers.get(self.path, (404, b""))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Location", "http://127.0.0.1:1/")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.anyio
async def test_an_api_that_accepts_mail_is_ready_and_one_with_an_old_schema_is_not(
    database: DatabaseSettings,
) -> None:
    async with open_pool(database) as pool:
        settings = settings_for(database)
        app = create_app(settings, pool, services=build_services(settings, pool))
        async with listening(app, bind("127.0.0.1", 0, option="--port")) as url:
            found = await asyncio.to_thread(readiness_of, url)
            assert (found.is_alive, found.is_ready, found.reason) == (True, True, None)
            async with connect(database) as conn:
                newest = "SELECT max(version) FROM mailqueue.schema_migrations"
                gone = f"DELETE FROM mailqueue.schema_migrations WHERE version = ({newest})"
                await conn.execute(gone.encode())
            found = await asyncio.to_thread(readiness_of, f"{url}/")
            assert (found.is_alive, found.is_ready) == (True, False)
            assert "migrate" in str(found.reason)


@pytest.mark.parametrize(
    ("answers", "is_alive", "words"),
    [
        ({}, False, "/livez answers 404"),
        ({"/livez": (302, b"")}, False, "/livez answers 302"),
        ({"/livez": ALIVE}, True, "it answers no /readyz"),
        ({"/livez": ALIVE, "/readyz": (503, b"<html>")}, True, "/readyz answers 503"),
        ({"/livez": ALIVE, "/readyz": (503, b"[]")}, True, "/readyz answers 503"),
        ({"/livez": ALIVE, "/readyz": (503, b'{"message": 1}')}, True, "/readyz answers 503"),
        (
            {"/livez": ALIVE, "/readyz": (503, json.dumps({"message": "no\x1b[31m"}).encode())},
            True,
            "no\ufffd[31m",
        ),
        ({"/livez": (200, b"x" * (MAX_BYTES + 1))}, False, "no answer: /livez answers with more"),
    ],
)
def test_what_another_server_answers_is_shown_as_it_is(
    answers: Mapping[str, tuple[int, bytes]], is_alive: bool, words: str
) -> None:
    with answering(answers) as url:
        found = readiness_of(url)
        assert (found.is_alive, found.is_ready) == (is_alive, False)
        assert str(found.reason).startswith(words)


def test_the_command_ends_with_1_where_nothing_answers_and_shows_no_password() -> None:
    with bind("127.0.0.1", 0, option="--port") as taken:
        port = taken.getsockname()[1]
    result = CliRunner().invoke(main, ["status", "--url", f"http://ann:secret@127.0.0.1:{port}"])
    assert (result.exit_code, "secret" in result.output) == (1, False)
    assert "no answer" in result.output
    with answering({"/livez": ALIVE, "/readyz": (200, b"{}")}) as url:
        result = CliRunner().invoke(main, ["status", "--url", url, "--json"])
        assert result.exit_code == 0
        assert json.loads(result.stdout) == {
            "url": url,
            "is_alive": True,
            "is_ready": True,
            "reason": None,
        }


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8025", "file:///etc/passwd", "http://", "http://a:x"]
)
def test_what_is_no_url_of_a_server_is_refused_by_its_option(url: str) -> None:
    with pytest.raises(InvalidField, match="--url"):
        readiness_of(url)
    result = CliRunner().invoke(main, ["status", "--url", url])
    assert result.exit_code == 1
    assert "--url" in result.output


def test_the_url_goes_with_no_other_option() -> None:
    result = CliRunner().invoke(main, ["status", "--url", "http://127.0.0.1:1", "--watch"])
    assert (result.exit_code, "--json alone" in result.output) == (2, True)
