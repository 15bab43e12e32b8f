"""`mailqueue sender add`: the options of a new account."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from mailqueue.cli.senders.key import secret_of, settings_of
from mailqueue.cli.senders.view import print_outcome
from mailqueue.cli.support.answer import json_option
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import examples
from mailqueue.cli.support.warm_up_option import warm_up_option
from mailqueue.core.address import InvalidAddress, parse_mailbox
from mailqueue.core.errors import InvalidField
from mailqueue.core.providers import PROVIDERS, Provider
from mailqueue.senders import accounts
from mailqueue.senders.model import KEEP, NewSender, Tls
from mailqueue.senders.presets import PRESETS, Preset
from mailqueue.vault.masterkey import MasterKey


@click.command(
    epilog=examples(
        "mailqueue sender add --name relay --host smtp.example.com --port 25 --tls none",
        "RELAY_PASSWORD=… mailqueue sender add --name relay --host smtp.example.com \\",
        "    --username ann --password-env RELAY_PASSWORD --from 'Ann <ann@example.com>'",
        "mailqueue sender add --name gmail --preset gmail --username ann@example.com",
        "mailqueue sender add --name fresh --host smtp.example.com --warm-up 200x2,1000x3,5000x5",
        "SG=… mailqueue sender add --name sg --provider sendgrid --api-key-env SG \\",
        "    --from 'Shop <shop@example.com>'",
        "SES=… mailqueue sender add --name ses --provider ses --username AKID --api-key-env SES \\",
        "    --setting region=eu-west-1 --setting configuration_set=events",
    )
)
@click.option("--project", default="default", show_default=True, help="Project of the account.")
@click.option("--name", required=True, help="Name of the account, unique in its project.")
@click.option(
    "--provider",
    type=click.Choice([provider.value for provider in PROVIDERS]),
    default=Provider.SMTP.value,
    show_default=True,
    help="Provider of the account; `smtp` is any SMTP server.",
)
@click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    help="Start from the known settings of a provider.",
)
@click.option(
    "--host", help="Host name or IP address of the SMTP server; private addresses are allowed."
)
@click.option(
    "--port", type=int, help="Port.  [default: 25 for none, 587 for starttls, 465 for implicit]"
)
@click.option(
    "--tls",
    type=click.Choice([tls.value for tls in Tls]),
    help="TLS mode.  [default: starttls]",
)
@click.option("--username", help="User name, access key id or mailbox to log in with.")
@click.option(
    "--password-env",
    metavar="VAR",
    help="Environment variable that holds the password; without it, a terminal is prompted.",
)
@click.option(
    "--api-key-env",
    metavar="VAR",
    help="Environment variable that holds the API key of the provider.",
)
@click.option(
    "--api-key-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File that holds the API key, such as the key file of a service account.",
)
@click.option("--api-url", help="URL of the provider's API, if not the usual one.")
@click.option(
    "--setting",
    "setting",
    multiple=True,
    metavar="NAME=VALUE",
    help="Setting of the provider, such as region=eu-west-1; may be repeated.",
)
@click.option("--from", "from_", metavar="MAILBOX", help="Default From address.")
@click.option(
    "--priority",
    type=int,
    default=100,
    show_default=True,
    help="Accounts with a lower number are tried first.",
)
@click.option(
    "--fallback", is_flag=True, help="Use the account only while no other account may send."
)
@click.option("--daily-limit", type=int, help="Recipients per day.")
@click.option("--hourly-limit", type=int, help="Recipients in any 60 minutes.")
@click.option("--minute-limit", type=int, help="Recipients in any 60 seconds.")
@click.option("--rate-per-second", type=float, help="Recipients per second.")
@click.option(
    "--burst",
    type=int,
    help="Recipients that one second may have beyond the rate.  [default: one second of the rate]",
)
@click.option("--batch-size", type=int, help="Emails claimed at once.")
@click.option("--send-delay-ms", type=int, help="Milliseconds between two emails.")
@click.option("--max-connections", type=int, help="Maximum connections of one worker process.")
@click.option(
    "--time-zone", help="Time zone of the daily limit, such as Europe/Berlin.  [default: UTC]"
)
@warm_up_option
@click.option("--notes", help="Description.")
@json_option
def add(*, project: str, **options: Any) -> None:
    """Add a sender account. Running workers use it within one second."""
    new = requested(**options)
    print_outcome(
        lambda app: accounts.add(app.conn, new, project=project, master=_master(app, new)),
    )


def _master(app: Opened, new: NewSender) -> MasterKey | None:
    # Read only if needed: a faulty key file must not stop an account without a password.
    return app.master_key() if new.password else None


def requested(
    *,
    name: str,
    provider: str,
    preset: str | None,
    host: str | None,
    port: int | None,
    tls: str | None,
    username: str | None,
    password_env: str | None,
    api_key_env: str | None,
    api_key_file: Path | None,
    api_url: str | None,
    setting: tuple[str, ...],
    from_: str | None,
    priority: int,
    fallback: bool,
    notes: str | None,
    **limits: Any,
) -> NewSender:
    """Return the account that the options and the preset describe; options take precedence."""
    known = PRESETS[preset] if preset else Preset()
    secured = Tls(tls) if tls else known.tls
    if port is None and secured is known.tls:
        port = known.port
    username = username or known.username
    display_name, email = mailbox_of(from_)
    chosen = Provider(provider)
    return NewSender(
        name=name,
        provider=chosen,
        email=email,
        display_name=display_name,
        host=host or known.host,
        port=port,
        tls=secured,
        username=username,
        password=secret_of(
            chosen,
            username,
            password_env=password_env,
            api_key_env=api_key_env,
            api_key_file=api_key_file,
        ),
        api_url=api_url,
        settings=settings_of(setting),
        is_private_ok=True,
        priority=priority,
        is_fallback=fallback,
        limits=replace(known.limits, **{k: v for k, v in limits.items() if v not in (None, KEEP)}),
        notes=notes,
    )


def mailbox_of(text: str | None) -> tuple[str | None, str | None]:
    """Return display name and address of the option `--from`."""
    if text is None:
        return None, None
    try:
        mailbox = parse_mailbox(text)
    except InvalidAddress as exc:
        raise InvalidField("from", str(exc)) from exc
    return mailbox.name or None, mailbox.address.sent
