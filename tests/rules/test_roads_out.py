"""Only one module connects by host name: the one that checks the addresses."""

import ast
from collections.abc import Iterator

import pytest

from tests.rules.source import ROOT, files, modules, parsed

GUARD = "mailqueue.smtp.client.dial"

# Modules that may look up, connect or listen besides the guard, and why that is safe.
OWN_REASONS = {
    "mailqueue.adapters.mailboxes.imap": "speaks on a socket that the guard has opened",
    "mailqueue.api.http.server": "binds where the operator says",
    "mailqueue.cli.status.remote": "asks the API that the operator names",
    "mailqueue.client.asynchronous.client": "runs at the user's, who says where the API is",
    "mailqueue.client.exchange": "runs at the user's",
    "mailqueue.client.synchronous.client": "runs at the user's",
    "mailqueue.embedded.ports": "looks for a free port of its own",
    "mailqueue.telemetry.supervisor": "tells systemd, on a path",
}
SOCKETS = {"socket", "create_connection", "getaddrinfo", "gethostbyname", "gethostbyname_ex"}
LOOP = {"getaddrinfo", "getnameinfo", "sock_connect", "sock_sendto", "create_datagram_endpoint"}
GIVEN_A_SOCKET = {"create_connection", "open_connection", "SMTP"}
CLIENTS = {
    *("http.client", "urllib.request", "xmlrpc", "ftplib", "imaplib", "poplib", "smtplib"),
    *("telnetlib", "nntplib", "httpx", "httpx2", "aiohttp", "requests", "urllib3", "pycurl"),
    *("websockets", "asyncssh", "paramiko", "boto3", "botocore", "redis"),
}


def ways_out(tree: ast.Module) -> Iterator[str]:
    """Yield the calls of a module that could connect by name, with their lines."""
    dotted = _dotted_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (f"{node.lineno}: {name}" for name in _clients(node))
        elif isinstance(node, ast.Call) and (name := _called(node, dotted)):
            yield f"{node.lineno}: {name}"


def _dotted_names(tree: ast.Module) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {one.asname or one.name: one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    return found


def _clients(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        named = [one.name for one in node.names]
    else:
        named = [f"{node.module}.{one.name}" for one in node.names]
    return [one for one in named if any(f"{one}.".startswith(f"{each}.") for each in CLIENTS)]


def _called(node: ast.Call, dotted: dict[str, str]) -> str | None:
    """Return the name of a call that looks a name up or connects; None for any other."""
    match node.func:
        case ast.Attribute(value=ast.Name(id=base), attr=verb):
            whole = f"{dotted.get(base, base)}.{verb}"
        case ast.Attribute(attr=verb):
            whole = f"?.{verb}"
        case ast.Name(id=verb):
            whole = dotted.get(verb, verb)
        case _:
            return None
    if whole.startswith("mailqueue."):
        return None
    home, _, verb = whole.rpartition(".")
    if home == "socket":
        return whole if verb in SOCKETS else None
    if verb in GIVEN_A_SOCKET and home:
        return None if any(each.arg == "sock" for each in node.keywords) else whole
    return whole if verb in LOOP and home else None


def everything() -> dict[str, ast.Module]:
    """Return every module that runs in production, scripts and workers too."""
    loose = [
        path for path in files(".py") if path.relative_to(ROOT).parts[0] in ("workers", "scripts")
    ]
    return modules() | {str(path.relative_to(ROOT)): parsed(path) for path in loose}


def test_only_the_guard_connects_or_looks_names_up() -> None:
    found = {name: list(ways_out(tree)) for name, tree in everything().items()}

    assert found.pop(GUARD), "the guard itself connects; else this rule sees nothing"
    assert {name: ways for name, ways in found.items() if ways and name not in OWN_REASONS} == {}


def test_every_listed_reason_is_needed() -> None:
    assert [name for name in OWN_REASONS if not list(ways_out(modules()[name]))] == []


@pytest.mark.parametrize(
    "source",
    [
        "import socket\nsocket.create_connection(('mx.example.com', 25))",
        "from socket import getaddrinfo as look\nlook('mx.example.com', 25)",
        "import socket as s\ns.socket()",
        "import asyncio\nasyncio.open_connection('mx.example.com', 25)",
        "from asyncio import open_connection\nopen_connection('mx.example.com', 25)",
        "loop.create_connection(Inbox, 'mx.example.com', 25)",
        "self.loop.getaddrinfo('mx.example.com', 25)",
        "import asyncio\nasyncio.get_running_loop().sock_connect(one, two)",
        "import aiosmtplib\naiosmtplib.SMTP(hostname='mx.example.com')",
        "import urllib.request",
        "from urllib import request",
        "from http.client import HTTPSConnection",
        "def f():\n    import smtplib",
    ],
)
def test_each_way_out_is_found(source: str) -> None:
    assert len(list(ways_out(ast.parse(source)))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "loop.create_connection(Inbox, sock=checked)",
        "import aiosmtplib\naiosmtplib.SMTP(hostname='mx.example.com', sock=checked)",
        "from mailqueue.db.pool import open_connection\nopen_connection(settings)",
        "from urllib.parse import urlsplit",
        "import socket\nsocket.if_nameindex()",
    ],
)
def test_what_uses_a_checked_socket_is_no_way_out(source: str) -> None:
    assert list(ways_out(ast.parse(source))) == []
