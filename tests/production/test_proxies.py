"""nginx and Caddy with our files before a real installation."""

import json
import re
import ssl
from collections.abc import Iterator
from contextlib import AbstractContextManager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import cast
from urllib.parse import urlencode, urlsplit

import pytest

from mailqueue.api.http.requests.body import BODY_BYTES
from mailqueue.api.suppression.lists import IMPORT_BYTES
from mailqueue.embedded.ports import free_port
from tests.deploy.proxies import API, CLIENT, CONSOLE, LINKS, PROXIES, Proxy
from tests.scratch import lent
from tests.whole.conftest import home_named
from tests.whole.running import Up, eventually, up

PUBLIC = ("/pref/none", "/confirm/none", "/data/none", "/t/u/none", "/exports/none")
PERSONS = (
    ("GET", "/inbox/default", 303),  # to the page where they log in
    ("GET", "/oauth/gmail/connected", 200),
    ("POST", "/push/gmail", 401),
    ("POST", "/channels/slack/actions", 401),
)
"""Pages of persons and requests of providers, and the answers without a login or a signature."""
TOKEN = "mq-a-token-that-must-not-be-logged"
PASSWORD = "correct horse battery staple"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def ports() -> dict[str, int]:
    return {API: free_port(), LINKS: free_port(), CONSOLE: free_port()}


@pytest.fixture(scope="module")
def running(reachable_folder: Path, ports: dict[str, int]) -> Iterator[Up]:
    """An installation with a port for each part, as docs/production.md has it."""
    own = home_named(reachable_folder, "proxies")
    home = own.with_(
        MAILQUEUE_PUBLIC_URL=f"https://{LINKS}",
        MAILQUEUE_CONSOLE_URL=f"https://{CONSOLE}",
        MAILQUEUE_API_NAMES=API,
        MAILQUEUE_CONSOLE_PORT=str(ports[CONSOLE]),
        MAILQUEUE_PUBLIC_PORT=str(ports[LINKS]),
        MAILQUEUE_GMAIL_CLIENT_ID="client",
        MAILQUEUE_GMAIL_CLIENT_SECRET="secret",
        MAILQUEUE_GMAIL_TOPIC="projects/one/topics/two",
        MAILQUEUE_GMAIL_PUSH_ACCOUNT="push@example.com",
    )
    with lent(own.data), up(home, "--workers", "1", "--port", str(ports[API])) as found:
        yield found


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=getattr(pytest.mark, name)) for name in PROXIES],
)
def proxy(
    running: Up,
    ports: dict[str, int],
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Proxy]:
    """A proxy before it."""
    run = PROXIES[request.param](tmp_path_factory.mktemp(request.param) / "proxy", ports)
    with cast("AbstractContextManager[Proxy]", run) as found:
        yield found


def link_in(running: Up, pattern: str) -> str:
    """Return the path of a link in a new mail that the trap has caught."""
    domain = f"d{free_port()}.example"
    running.psql(
        "INSERT INTO mailqueue.email_queue (recipient_email, subject, html_body, track_opens)"
        f" VALUES ('ann@{domain}', 'Hi', '<p>Hi</p>', true)"
    )
    [message] = eventually(lambda: running.caught(domain))
    found = re.search(pattern, message.replace(b"=\r\n", b"").decode())
    assert found is not None, message
    return urlsplit(found[0]).path


def logged_in(proxy: Proxy, running: Up) -> str:
    """Return the cookie of a new user of the console who has logged in through the proxy."""
    name = f"u{free_port()}"
    made = running.home.json("user", "add", name, "--role", "superadmin")
    link = made["link"].partition("link=")[2]
    assert proxy.status(CONSOLE, f"/console/welcome?link={link}") == 200
    password = {"link": link, "password": PASSWORD, "again": PASSWORD}
    assert sent(proxy, "/console/welcome", password).status == 200
    answer = sent(proxy, "/console/login", {"name": name, "password": PASSWORD})
    assert answer.status == 303
    cookies = answer.headers.get_all("Set-Cookie") or []
    assert all("Secure" in cookie for cookie in cookies)
    return "; ".join(cookie.partition(";")[0] for cookie in cookies)


def sent(proxy: Proxy, path: str, form: dict[str, str]) -> HTTPResponse:
    """Send a form to the console; return the answer, which has been read."""
    headers = {"Origin": f"https://{CONSOLE}", "Content-Type": FORM}
    body = urlencode(form).encode()
    with proxy.asking(CONSOLE, path, method="POST", body=body, headers=headers) as answer:
        answer.read()
        return answer


def test_each_name_has_its_part_and_no_other(proxy: Proxy) -> None:
    links = [proxy.status(LINKS, path) for path in PUBLIC]

    assert links == [404] * len(PUBLIC)  # of an invalid token, as the page says
    assert proxy.status(LINKS, "/inbound/resend/none") == 405
    for name in (LINKS, CONSOLE):
        assert proxy.status(name, "/v1/emails") == 404
        assert proxy.status(name, "/admin/projects") == 404
        assert proxy.status(name, "/openapi.json") == 404
    for name in (LINKS, API):
        assert proxy.status(name, "/console/login") == 404
    for name in (API, CONSOLE):
        assert proxy.status(name, "/inbound/resend/none") == 404
        assert proxy.status(name, "/t/o/none") == 404
    for name in (API, CONSOLE, LINKS):
        assert proxy.status(name, "/metrics") == 404
    for method, path, status in PERSONS:
        assert proxy.status(LINKS, path, method=method) == status, path
        for name in (API, CONSOLE):
            assert proxy.status(name, path, method=method) == 404, path
    assert proxy.status(API, "/v1/emails") == 401
    assert proxy.status(CONSOLE, "/console/login") == 200


def test_a_name_that_is_not_ours_gets_no_certificate(proxy: Proxy) -> None:
    with pytest.raises(ssl.SSLError):
        proxy.status("other.example.com", "/")


def test_a_host_that_is_not_ours_below_a_name_that_is_reaches_nothing(proxy: Proxy) -> None:
    headers = {"Host": "other.example.com"}
    for path in ("/", "/livez", "/index.html", f"/t/c/{TOKEN}"):
        with proxy.asking(LINKS, path, headers=headers) as answer:
            assert answer.read().count(b"nginx.org") == 0
            if answer.status == 200:
                assert answer.headers["Content-Length"] == "0"  # of Caddy, for names it has not

    assert TOKEN not in proxy.logged()


def test_the_name_of_an_absolute_form_decides_as_host_does(proxy: Proxy) -> None:
    for name, asked in ((API, CONSOLE), (LINKS, API), (CONSOLE, LINKS)):
        path = f"https://{asked}/v1/emails"
        assert proxy.status(name, path) == proxy.status(asked, "/v1/emails")


@pytest.mark.parametrize(
    "path", ["//v1/emails", "/%76%31/emails", "/t/../v1/emails", "/./v1/emails"]
)
def test_no_spelling_of_a_path_reaches_another_part(proxy: Proxy, path: str) -> None:
    for name in (LINKS, CONSOLE):
        assert proxy.status(name, path) in {400, 404}


def test_plain_http_leads_to_https(proxy: Proxy) -> None:
    connection = HTTPConnection("127.0.0.1", proxy.plain, timeout=30)
    connection.request("GET", "/v1/emails?x=1", headers={"Host": API})
    answer = connection.getresponse()

    assert answer.status == 308
    assert answer.headers["Location"] == f"https://{API}/v1/emails?x=1"
    connection.close()


def test_the_address_of_a_client_is_its_own_whatever_it_says(proxy: Proxy, running: Up) -> None:
    path = link_in(running, r"https://links\.example\.com/t/o/[\w.~-]+")
    known = "SELECT host(ip_address) FROM mailqueue.open_events ORDER BY id DESC LIMIT 1"
    count = "SELECT count(*) FROM mailqueue.open_events"
    before = running.value(count)
    spoofed = {
        "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
        "X-Forwarded-For": "203.0.113.9",
        "Forwarded": "for=203.0.113.9",
    }

    with proxy.asking(LINKS, path, headers=spoofed) as answer:
        assert answer.status == 200
    eventually(lambda: running.value(count), lambda found: found > before)

    assert running.value(known) == CLIENT.rpartition(".")[0] + ".0"


def test_the_largest_body_of_the_api_passes(proxy: Proxy, running: Up) -> None:
    key = running.home.json("key", "add", f"k{free_port()}")["key"]
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "text/csv"}
    body = b"nothing\n".ljust(IMPORT_BYTES)
    path = "/v1/suppressions/import"

    with proxy.asking(API, path, method="POST", body=body, headers=headers) as answer:
        found = answer.status, json.load(answer)

    assert found[0] == 422, found  # the list has no addresses: it was read


def test_a_body_that_is_too_large_is_refused_in_the_words_of_the_api(
    proxy: Proxy, running: Up
) -> None:
    headers = {"Authorization": f"Bearer {running.ready['api_key']}"}
    body = b" " * (BODY_BYTES + 1)

    with proxy.asking(API, "/v1/send", method="POST", body=body, headers=headers) as answer:
        found = answer.status, json.load(answer)

    assert found[0] == 413, found
    assert "at most 30 MiB" in found[1]["message"]


def test_events_of_the_console_pass_while_the_answer_goes_on(proxy: Proxy, running: Up) -> None:
    headers = {"Cookie": logged_in(proxy, running), "Accept": "text/event-stream"}
    with proxy.asking(CONSOLE, "/console/dashboard/live", headers=headers) as answer:
        assert answer.status == 200
        assert answer.headers["Content-Type"] == "text/event-stream"
        lines = [answer.readline() for _ in range(3)]  # of a stream that lasts ten minutes
        assert b"event: ready\n" in lines


def test_a_large_answer_passes_whole(proxy: Proxy) -> None:
    with proxy.asking(API, "/openapi.json") as answer:
        assert len(json.load(answer)["paths"]) > 100


def test_no_token_and_no_query_stands_in_a_log(
    proxy: Proxy,
    running: Up,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> None:
    asked = [
        *((LINKS, f"{path}/{TOKEN}") for path in ("/t/o", "/t/c", "/t/u", "/pref")),
        *(
            (LINKS, f"/{path}/{TOKEN}")
            for path in ("confirm", "data", "exports", "inbound/ses", TOKEN, "t", "")
        ),
        (LINKS, f"/oauth/gmail?code={TOKEN}&state={TOKEN}"),
        (LINKS, f"/t%2Fc/{TOKEN}%0d%0ax"),
        (CONSOLE, f"/console/welcome?link={TOKEN}"),
        (CONSOLE, f"/console/{TOKEN}/{TOKEN}@example.com"),
        (API, f"/v1/emails?recipient={TOKEN}@example.com"),
        (API, f"/v1/contacts/{TOKEN}@example.com"),
    ]
    for name, path in asked:
        proxy.status(name, path)
    # And where nothing answers behind it.
    away = dict.fromkeys((API, LINKS, CONSOLE), free_port())
    kind = proxy.folder.parent.name.rstrip("0123456789")
    alone = PROXIES[kind](tmp_path_factory.mktemp("away") / "proxy", away)
    with cast("AbstractContextManager[Proxy]", alone) as lone:
        found = {lone.status(name, path) for name, path in asked}
        texts = proxy.logged() + lone.logged()

    assert found == {502}
    assert TOKEN not in texts
    assert TOKEN[3:] not in texts
    if kind == "nginx":
        for words in ('"GET /t/c" ', '"GET /v1/emails" ', '"GET /console/welcome" ', '"GET /-" '):
            assert words in texts
