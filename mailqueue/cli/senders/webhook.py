"""`mailqueue sender webhook`: the URL to which a provider sends the events of an account."""

import os
from dataclasses import dataclass
from pathlib import Path

import click

from mailqueue.cli.senders.key import MAX_FILE_OCTETS, settings_of
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import execute, json_option, print_result
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import examples, facts
from mailqueue.contract.senders import ProviderEndpoint, RemovedEndpoint
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.core.providers import NAMES_WITH_EVENTS
from mailqueue.inbound import endpoints
from mailqueue.inbound.endpoints import SecretsChange
from mailqueue.senders import accounts


@dataclass(frozen=True, slots=True)
class _RequestedChange:
    change: SecretsChange
    is_rotated: bool

    @property
    def is_any(self) -> bool:
        return self.is_rotated or self.change != endpoints.NO_CHANGE


@click.command(
    epilog=examples(
        "mailqueue sender webhook relay",
        "SECRET=… mailqueue sender webhook mg --signing-env SECRET",
        "mailqueue sender webhook sg --signing-file sendgrid-public-key.txt",
        "PASSWORD=… mailqueue sender webhook pm --user mailqueue --password-env PASSWORD",
        "mailqueue sender webhook ses --topic arn:aws:sns:eu-west-1:123456789012:ses-events",
        "mailqueue sender webhook relay --rotate",
        "mailqueue sender webhook relay --remove",
    )
)
@click.argument("name")
@click.option("--project", default="default", show_default=True, help="Project of the account.")
@click.option(
    "--provider",
    type=click.Choice(NAMES_WITH_EVENTS),
    help="Provider that sends the events.  [default: the account's provider]",
)
@click.option(
    "--signing-env",
    multiple=True,
    metavar="VAR",
    help="Environment variable that holds the signing secret or public key; may be repeated.",
)
@click.option(
    "--signing-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File that holds the signing secret or public key; may be repeated.",
)
@click.option("--user", help="User name of its Basic authentication.")
@click.option(
    "--password-env",
    metavar="VAR",
    help="Environment variable that holds the password of its Basic authentication.",
)
@click.option("--topic", multiple=True, help="Allowed SNS topic (ARN); may be repeated.")
@click.option(
    "--setting",
    multiple=True,
    metavar="NAME=VALUE",
    help="Further setting, such as header=x-secret; may be repeated.",
)
@click.option("--rotate", is_flag=True, help="Replace the URL; the old one stops working at once.")
@click.option("--remove", is_flag=True, help="Remove the URL.")
@json_option
def webhook(
    *,
    name: str,
    project: str,
    provider: str | None,
    signing_env: tuple[str, ...],
    signing_file: Path | None,
    user: str | None,
    password_env: str | None,
    topic: tuple[str, ...],
    setting: tuple[str, ...],
    rotate: bool,
    remove: bool,
) -> None:
    """Create or show the URL for a provider's webhook, and store the secrets that verify it.

    Settings that are not given stay. Secrets are stored encrypted and never shown again.
    """
    signing = [_variable(one, option="signing-env") for one in signing_env]
    if signing_file is not None:
        signing.append(_file(signing_file))
    asked = _RequestedChange(
        SecretsChange(
            signing=signing or None,
            user=user,
            password=None
            if password_env is None
            else _variable(password_env, option="password-env"),
            topics=topic or None,
            settings=settings_of(setting),
        ),
        rotate,
    )
    if remove and asked.is_any:
        raise click.UsageError("--remove cannot be combined with other changes")
    shown = execute(lambda app: _done(app, name, project, provider, asked, is_removed=remove))

    def as_text() -> None:
        if shown is None:
            click.echo(f"removed: requests to the URL of {name} are now refused")
        else:
            _print(shown)

    print_result(shown if shown is not None else RemovedEndpoint(removed=True), as_text)


async def _done(
    app: Opened,
    name: str,
    project: str,
    provider: str | None,
    request: _RequestedChange,
    *,
    is_removed: bool,
) -> ProviderEndpoint | None:
    account = await accounts.find(app.conn, project, name=name)
    word = endpoints.provider_of(account, provider)
    if is_removed:
        await endpoints.remove(app.conn, account, provider=word, by=operator())
        return None
    base_url = app.settings.tracking.public_url
    if not request.is_any:
        try:
            return await endpoints.show(
                app.conn, account, provider=word, master=app.master_key(), base_url=base_url
            )
        except NotFound:
            pass  # the first time it is asked for
    return await endpoints.put(
        app.conn,
        account,
        provider=word,
        change=request.change,
        is_rotated=request.is_rotated,
        master=app.master_key(),
        base_url=base_url,
        by=operator(),
    )


def _print(shown: ProviderEndpoint) -> None:
    facts(
        (
            ("provider", shown.provider),
            ("url", shown.url),
            ("signing secret", "kept" if shown.has_signing_secret else "none"),
            ("user", shown.user),
            ("password", "kept" if shown.has_password else "none"),
            ("topics", ", ".join(shown.topics) or None),
            (
                "settings",
                ", ".join(f"{one}={value}" for one, value in shown.settings.items()) or None,
            ),
        )
    )


def _variable(name: str, *, option: str) -> str:
    text = os.environ.get(name)
    if not text:
        raise InvalidField(option, f"the environment variable {name!r} is not set")
    return text


def _file(path: Path) -> str:
    try:
        text = path.read_bytes()[: MAX_FILE_OCTETS + 1].decode().strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidField("signing-file", f"{path} cannot be read: {exc}") from exc
    if not text or len(text) > MAX_FILE_OCTETS:
        raise InvalidField("signing-file", f"{path} must hold text")
    return text
