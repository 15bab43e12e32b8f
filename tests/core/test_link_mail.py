"""The variables of the mail with links: what they mean, and that a password is in no error."""

import pytest

from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret
from mailqueue.settings.link_mail import mail_of

URL = "https://mail.example.com"
FROM = "console@example.com"


@pytest.mark.parametrize(
    ("url", "host", "port", "tls", "login"),
    [
        ("smtps://ann:p%40ss@smtp.example.com", "smtp.example.com", 465, "implicit", "p@ss"),
        ("smtp://ann:pw@smtp.example.com:2587", "smtp.example.com", 2587, "starttls", "pw"),
        ("smtp://127.0.0.1:25", "127.0.0.1", 25, "none", ""),
        ("smtp://localhost", "localhost", 587, "none", ""),
    ],
)
def test_a_server_is_encrypted_unless_it_is_this_machine(
    url: str, host: str, port: int, tls: str, login: str
) -> None:
    found = mail_of(Secret(url), FROM, URL)

    assert found is not None
    assert (found.host, found.port, found.tls) == (host, port, tls)
    assert found.password.reveal() == login


@pytest.mark.parametrize(
    ("url", "sender", "console", "named"),
    [
        (None, FROM, URL, "MAILQUEUE_CONSOLE_MAIL_URL"),
        ("smtps://h", None, URL, "MAILQUEUE_CONSOLE_MAIL_FROM"),
        ("smtps://h", "no address", URL, "MAILQUEUE_CONSOLE_MAIL_FROM"),
        ("smtps://h", FROM, None, "MAILQUEUE_CONSOLE_URL"),
        ("http://a:hidden@h", FROM, URL, "MAILQUEUE_CONSOLE_MAIL_URL"),
        ("smtps://a:hidden@h:x", FROM, URL, "MAILQUEUE_CONSOLE_MAIL_URL"),
        ("smtps://a:12#hidden@h", FROM, URL, "MAILQUEUE_CONSOLE_MAIL_URL"),
        ("smtps://a:hidden@h/path", FROM, URL, "MAILQUEUE_CONSOLE_MAIL_URL"),
    ],
)
def test_what_is_missing_or_invalid_is_named_without_the_password(
    url: str | None, sender: str | None, console: str | None, named: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        mail_of(None if url is None else Secret(url), sender, console)

    assert named in str(refused.value)
    assert "hidden" not in str(refused.value)


def test_nothing_is_mailed_unless_it_is_wanted() -> None:
    assert mail_of(None, None, URL) is None
