"""A custom SMTP server of one mail is validated like stored accounts, and shows no secret."""

import traceback
from typing import Any

import pytest

from mailqueue.core.errors import InvalidField
from mailqueue.core.secret import Secret
from mailqueue.senders.custom_smtp import custom_smtp_server

USER, PASSWORD = "canary-user-7f3a", "canary-password-91bc"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"host": "2130706433"}, "host"),
        ({"host": "mx.example.com\r\n"}, "host"),
        ({"port": 70000}, "port"),
        ({"tls": "ssl"}, "tls"),
        ({"username": Secret(USER)}, "password"),
        ({"username": Secret(f"{USER}\n"), "password": Secret(PASSWORD)}, "username"),
        ({"password": Secret(PASSWORD)}, "username"),
    ],
)
def test_a_faulty_server_is_refused_and_nothing_secret_is_repeated(
    given: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidField) as caught:
        custom_smtp_server(**{"host": "mx.example.com", **given})

    assert caught.value.field == f"smtp_override.{field}"
    shown = "".join(traceback.format_exception(caught.value))
    assert USER not in shown
    assert PASSWORD not in shown


def test_a_server_shows_no_secret_when_it_is_printed() -> None:
    server = custom_smtp_server(
        host="MX.example.com", username=Secret(USER), password=Secret(PASSWORD)
    )

    assert (server.host, server.port, server.tls) == ("mx.example.com", 587, "starttls")
    assert USER not in f"{server!r} {server}"
    assert PASSWORD not in f"{server!r} {server}"
