"""`mailqueue sender change`: server, credentials, From address and limits of an account."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from mailqueue.cli.senders.add import mailbox_of
from mailqueue.cli.senders.key import secret_of, settings_of
from mailqueue.cli.senders.limits import limit_options, limits_of
from mailqueue.cli.senders.view import print_outcome
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import examples
from mailqueue.senders import accounts, changing
from mailqueue.senders.acceptable import PORT_BY_TLS
from mailqueue.senders.changing import SenderChange
from mailqueue.senders.model import KEEP, NewSender, SenderAccount, Tls


@dataclass(frozen=True, slots=True)
class _Connection:
    """The options of server and credentials; None: not given."""

    host: str | None
    port: int | None
    tls: str | None
    username: str | None
    no_login: bool
    password_env: str | None
    api_key_env: str | None
    api_key_file: Path | None
    ask_password: bool
    api_url: str | None
    setting: tuple[str, ...]

    @property
    def has_new_secret(self) -> bool:
        """Return whether a password or key is given, or asked for."""
        named = (self.password_env, self.api_key_env, self.api_key_file)
        return self.ask_password or any(one is not None for one in named)


@click.command(
    epilog=examples(
        "mailqueue sender change relay --host smtp2.example.com --password-env RELAY_PASSWORD",
        "mailqueue sender change relay --password-env RELAY_PASSWORD",
        "mailqueue sender change relay --port 465 --tls implicit",
        "mailqueue sender change relay --from 'Shop <shop@example.com>' --daily-limit 5000",
        "mailqueue sender change ses --setting region=eu-west-1",
    )
)
@click.argument("name")
@click.option("--project", default="default", show_default=True, help="Project of the account.")
@click.option(
    "--host", help="Host name or IP address of the SMTP server; private addresses are allowed."
)
@click.option(
    "--port", type=int, help="Port.  [default: stays, or becomes the usual one of a new TLS mode]"
)
@click.option("--tls", type=click.Choice([tls.value for tls in Tls]), help="TLS mode.")
@click.option("--username", help="User name, access key id or mailbox to log in with.")
@click.option("--no-login", is_flag=True, help="Remove user name and password.")
@click.option(
    "--password-env", metavar="VAR", help="Environment variable that holds the new password."
)
@click.option(
    "--api-key-env",
    metavar="VAR",
    help="Environment variable that holds the new API key of the provider.",
)
@click.option(
    "--api-key-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File that holds the new API key, such as the key file of a service account.",
)
@click.option(
    "--ask-password", is_flag=True, help="Prompt for the new password or API key on the terminal."
)
@click.option("--api-url", help="URL of the provider's API.")
@click.option(
    "--setting",
    "setting",
    multiple=True,
    metavar="NAME=VALUE",
    help="Setting of the provider, such as region=eu-west-1; NAME= removes one; may be repeated.",
)
@click.option("--from", "from_", metavar="MAILBOX|none", help="Default From address, or `none`.")
@click.option("--priority", type=int, help="Accounts with a lower number are tried first.")
@click.option(
    "--fallback/--no-fallback",
    default=None,
    help="Whether the account is used only while no other account may send.",
)
@click.option("--notes", metavar="TEXT|none", help="Description, or `none`.")
@limit_options
@json_option
def change(
    *,
    name: str,
    project: str,
    from_: str | None,
    priority: int | None,
    fallback: bool | None,
    notes: str | None,
    **options: Any,
) -> None:
    """Change an account: server, credentials, From address, order or limits.

    Options that are not given keep their values. The stored password is kept while host, API URL
    and user name stay the same; with another host or user name, give it again.
    """
    display_name, email = mailbox_of(None if from_ == "none" else from_)
    asked: dict[str, Any] = {
        "email": KEEP if from_ is None else email,
        "display_name": KEEP if from_ is None else display_name,
        "priority": KEEP if priority is None else priority,
        "is_fallback": KEEP if fallback is None else fallback,
        "notes": KEEP if notes is None else None if notes == "none" else notes,
        "limits": limits_of(options),
    }
    connection = _Connection(**options)
    if SenderChange(**asked) == SenderChange() and connection == _NOTHING:
        raise click.UsageError("give at least one option to change, such as --host or --priority")
    if connection.no_login and (connection.username or connection.has_new_secret):
        raise click.UsageError("--no-login takes neither a user name nor a password")
    account = execute(lambda app: accounts.find(app.conn, project, name=name))
    way = None if connection == _NOTHING else _way(account, connection)

    async def changed(app: Opened) -> SenderAccount:
        return await changing.change(
            app.conn,
            project,
            account_id=account.id,
            change=SenderChange(**asked, way=await _with_password(app, account, way)),
            master=app.master_key() if way is not None else None,
            by=operator(),
        )

    print_outcome(changed)


def _way(account: SenderAccount, given: _Connection) -> NewSender:
    """Return the connection after the change; without a password where the stored one is kept.

    Raises:
        InvalidField: the password is needed again, and there is no terminal to ask on.
    """
    tls = account.smtp_tls if given.tls is None else Tls(given.tls)
    port = account.smtp_port if given.port is None else given.port
    if given.port is None and account.smtp_port == PORT_BY_TLS[account.smtp_tls]:
        port = None if account.smtp_port is None else PORT_BY_TLS[tls]
    username = None if given.no_login else given.username or account.smtp_username
    way = NewSender(
        name=account.name,
        provider=account.provider,
        host=given.host or account.smtp_host,
        port=port,
        tls=tls,
        username=username,
        api_url=given.api_url or account.api_url,
        settings=_settings(account.provider_settings, settings_of(given.setting)),
        is_private_ok=account.is_private_ok or given.host is not None,
    )
    is_kept = username == account.smtp_username and accounts.has_same_server(account, way)
    if given.no_login or (is_kept and not given.has_new_secret):
        return way
    password = secret_of(
        account.provider,
        username,
        password_env=given.password_env,
        api_key_env=given.api_key_env,
        api_key_file=given.api_key_file,
    )
    return replace(way, password=password)


async def _with_password(
    app: Opened, account: SenderAccount, way: NewSender | None
) -> NewSender | None:
    """Return the connection with the stored password where it has none of its own."""
    if way is None or way.password or not (way.username or way.provider.has_api):
        return way
    kept = await accounts.password_of(app.conn, account, master=app.master_key())
    return replace(way, password=kept)


def _settings(
    current: Mapping[str, Any] | None, given: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    merged = {**(current or {}), **(given or {})}
    return {name: value for name, value in merged.items() if value != ""} or None


_NOTHING = _Connection(
    host=None,
    port=None,
    tls=None,
    username=None,
    no_login=False,
    password_env=None,
    api_key_env=None,
    api_key_file=None,
    ask_password=False,
    api_url=None,
    setting=(),
)
