"""`mailqueue sender` with providers that have an HTTP API: added, shown without keys, tested."""

import asyncio
import base64
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from click.testing import CliRunner, Result

from mailqueue.cli.main import main
from tests.adapters.sending.fake import Fake, FakeReply, fake, says
from tests.adapters.sending.providers import PROVIDERS
from tests.smtp.client.scripted import scripted

T = TypeVar("T")

Cli = Callable[..., Result]
KEY = "key-hunter2"
GRANT = json.dumps({"client_id": "i", "client_secret": "s-hunter2", "refresh_token": "r-hunter2"})
MORE = {
    "ses": ("--username", "AKIDEXAMPLE", "--setting", "region=eu-west-1"),
    "mailgun": ("--setting", "domain=mg.example.com"),
    "postmark": ("--setting", "message_stream=outbound", "--setting", "keep_message_id=false"),
    "sendgrid": ("--setting", 'extra={"asm": {"group_id": 5}}'),
}


@pytest.fixture
def cli(fresh_db: str, tmp_path: Path) -> Cli:
    """Run a command on a fresh database, with a master key."""
    environment: dict[str, str | None] = {
        "MAILQUEUE_DATABASE_URL": fresh_db,
        "MAILQUEUE_DATA": str(tmp_path),
        "MAILQUEUE_MASTER_KEY": base64.b64encode(bytes(range(32))).decode(),
        "KEY": KEY,
        "GRANT": GRANT,
    }

    def invoke(*arguments: str) -> Result:
        return CliRunner(env=environment).invoke(main, ["sender", *arguments])

    return invoke


@contextmanager
def serving(replies: Sequence[FakeReply]) -> Iterator[Fake]:
    with beside(fake(replies)) as server:
        yield server


@contextmanager
def beside(server: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """Serve during commands, which have their own event loops."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(30)
        asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


def url_of(server: Fake) -> str:
    return f"http://127.0.0.1:{server.port}"


def document(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_accounts_are_added_and_their_keys_never_shown(cli: Cli) -> None:
    for provider in [one.name for one in PROVIDERS if one.name != "gmail"]:
        arguments = ("add", "--name", provider, "--provider", provider, "--api-key-env", "KEY")
        added = cli(*arguments, *MORE.get(provider, ()), "--json")

        shown = document(added)
        assert shown["provider_type"] == provider
        assert "********" in shown["credentials"].values()
        assert shown["credentials"]["api_url"] is None
        assert KEY not in added.output
    assert document(cli("show", provider, "--json")) == shown
    for result in (cli("show", "ses"), cli("list"), cli("list", "--json")):
        assert KEY not in result.output
        assert "ses" in result.output


def test_settings_are_kept_as_they_were_meant(cli: Cli) -> None:
    arguments = ("add", "--name", "p", "--provider", "postmark", "--api-key-env", "KEY", "--json")
    added = document(
        cli(
            *arguments,
            *("--setting", "message_stream=007", "--setting", "keep_message_id=true"),
            *("--setting", 'extra={"TrackOpens": true}', "--api-url", "https://example.net/"),
        )
    )

    assert added["credentials"]["settings"] == {
        "message_stream": "007",
        "keep_message_id": True,
        "extra": {"TrackOpens": True},
    }
    assert added["credentials"]["api_url"] == "https://example.net"
    shown = cli("show", "p").output
    assert "message_stream=007" in shown
    assert "postmark https://example.net" in shown


def test_the_key_of_a_service_account_comes_from_its_file(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "key.json"
    file.write_text(GRANT)
    arguments = ("add", "--name", "g", "--provider", "gmail", "--username", "shop@example.com")
    added = cli(*arguments, "--api-key-file", str(file), "--json")

    assert document(added)["credentials"]["mailbox"] == "shop@example.com"
    assert "hunter2" not in added.output


def add(*words: str) -> tuple[str, ...]:
    return ("add", "--name", "x", *words)


SES, KEYED = ("--provider", "ses"), ("--api-key-env", "KEY")
BAD_INPUT: tuple[tuple[tuple[str, ...], str], ...] = (
    (add("--provider", "sendgrid"), "api-key-env: provider sendgrid needs an API key"),
    (add("--provider", "sendgrid", "--api-key-env", "NONE"), "variable 'NONE' is not set"),
    (add(*SES, *KEYED), "username: is needed for ses: the access key id"),
    (add("--provider", "mailgun", *KEYED), "setting: domain is needed"),
    (add("--provider", "resend", *KEYED, "--username", "a"), "username: has no meaning"),
    (add("--provider", "resend", *KEYED, "--host", "a"), "host: has no meaning"),
    (add("--provider", "resend", *KEYED, "--setting", "x"), "setting: must be NAME=VALUE"),
    (
        add("--provider", "resend", *KEYED, "--setting", "region=eu"),
        "resend has no setting 'region'",
    ),
    (add(*SES, *KEYED, "--username", "a", "--setting", "region={"), "is not JSON"),
    (add(*SES, *KEYED, "--username", "a", "--setting", "region=true"), "region must be a text"),
    (add("--provider", "postmark", *KEYED, "--setting", "keep_message_id=1"), "true or false"),
    (add("--provider", "resend", *KEYED, "--api-url", "ftp://x.example"), "api_url: must begin"),
    (add("--provider", "resend", *KEYED, "--api-url", "https://a@b.example"), "a host, a port"),
    (add("--provider", "resend", *KEYED, "--api-url", "https://0x7f.1"), "api_url: "),
    (add("--provider", "gmail", *KEYED, "--username", "a@b.example"), "api_key: must be the key"),
    (add("--provider", "resend", *KEYED, "--password-env", "KEY"), "only one source"),
    (add("--host", "h.example", "--api-url", "https://x.example"), "api_url: has no meaning"),
    (add("--host", "h.example", "--setting", "auth=maybe"), "auth must be password or xoauth2"),
    (add("--provider", "resend", "--api-key-file", "/nowhere/key"), "cannot be read"),
)


def test_bad_input_names_the_field_and_stores_nothing(cli: Cli) -> None:
    for arguments, shown in BAD_INPUT:
        result = cli(*arguments)

        assert result.exit_code == 1, arguments
        assert shown in result.stderr, (arguments, result.stderr)
        assert KEY not in result.output
    names = [account["name"] for account in document(cli("list", "--json"))["data"]]
    assert "x" not in names


def test_accounts_are_tried_with_a_mail(cli: Cli) -> None:
    granted = says(200, {"access_token": KEY, "expires_in": 3599})
    for provider in PROVIDERS:
        name = provider.name
        with serving([provider.accepts]) as server, serving([granted]) as tokens:
            more = MORE.get(name, ())
            if name == "gmail":
                url = f"{url_of(tokens)}/token"
                more = ("--username", "shop@example.com", "--setting", f"token_url={url}")
            key = "GRANT" if name == "gmail" else "KEY"
            known = ("--provider", name, "--api-key-env", key, "--api-url", url_of(server))
            added = cli("add", "--name", name, *known, *more, "--from", "Shop <shop@example.com>")
            assert added.exit_code == 0, added.output

            if name == "ses":  # without a recipient nothing is sent
                assert document(cli("test", name, "--json"))["success"] is True
                assert server.requests == []
            sent = document(cli("test", name, "--to", "ann@example.com", "--json"))

        assert (sent["success"], sent["sent"], sent["kind"]) == (True, True, None)
        assert len(server.requests) == 1


def test_a_refused_key_is_told_and_fails(cli: Cli) -> None:
    unknown = says(401, {"errors": [{"message": f"no such key {KEY}", "field": None}]})
    with serving([unknown]) as server:
        known = ("--provider", "sendgrid", "--api-key-env", "KEY", "--api-url", url_of(server))
        cli("add", "--name", "p", *known, "--from", "shop@example.com")
        result = cli("test", "p", "--to", "ann@example.com")

    assert result.exit_code == 1
    assert "401 no such key *** (account, at connect)" in result.stderr


def test_an_smtp_account_logs_in_with_tokens(cli: Cli) -> None:
    granted = says(200, {"access_token": "ya29.token", "expires_in": 3599})
    with serving([granted]) as tokens, beside(scripted()) as server:
        server.ehlo = ("AUTH XOAUTH2",)
        known = ("--host", "127.0.0.1", "--port", str(server.port), "--tls", "none")
        grant = ("--username", "shop@example.com", "--api-key-env", "GRANT")
        url = f"token_url={url_of(tokens)}/token"
        more = ("--setting", "auth=xoauth2", "--setting", url, "--from", "shop@example.com")
        added = cli("add", "--name", "x", *known, *grant, *more)
        assert added.exit_code == 0, added.output

        sent = document(cli("test", "x", "--to", "ann@example.com", "--json"))

    assert sent["success"] is True
    assert len(server.messages) == 1
    said = next(one for one in server.commands if one.startswith(b"AUTH XOAUTH2 "))
    assert b"ya29.token" in base64.b64decode(said.removeprefix(b"AUTH XOAUTH2 "))
