"""Pages that change a sender account: its settings, its server, its credentials."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.form import FormPage, form_pages
from mailqueue.console.senders.finding import SENDER, account_in_path, path_of
from mailqueue.core.errors import ConfigError, Conflict, InvalidField, Locked
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.senders import changing
from mailqueue.senders.changing import SenderChange
from mailqueue.senders.model import LimitsChange, NewSender, SenderAccount, Tls
from mailqueue.vault.masterkey import master_key_of
from mailqueue.web.schemas import Choices, FormSchema, SecretText

_TLS_WORDS = {
    "starttls": "STARTTLS (usual, port 587)",
    "implicit": "TLS from the start (port 465)",
    "none": "none (port 25, only within your network)",
}
_LIMITS = (
    "daily_limit",
    "hourly_limit",
    "minute_limit",
    "rate_per_second",
    "burst",
    "max_connections",
    "time_zone",
)


class SenderForm(FormSchema):
    """The form of an account: who it sends as, when it is tried, and its limits."""

    email: Annotated[str | None, Field(max_length=320)] = None
    """From address (optional):
    of emails that name none"""
    display_name: Annotated[str | None, Field(max_length=998)] = None
    """Name beside it (optional)"""
    priority: int
    """Order:
    accounts are tried from the lowest number on"""
    is_fallback: bool = False
    """Only as a fallback, while no other account may send"""
    daily_limit: int | None = None
    """Recipients a day (empty: no limit)"""
    hourly_limit: int | None = None
    """Recipients in any 60 minutes (empty: no limit)"""
    minute_limit: int | None = None
    """Recipients in any 60 seconds (empty: no limit)"""
    rate_per_second: float | None = None
    """Recipients a second (empty: no limit)"""
    burst: int | None = None
    """At once beyond that rate (empty: as many as in a second)"""
    max_connections: int
    """Connections of one worker process, at most"""
    time_zone: Annotated[str, Field(max_length=100)]
    """Time zone at whose midnight a day begins, such as Europe/Berlin"""
    warm_up: Annotated[str | None, Field(max_length=1_500)] = None
    """Warm-up (optional):
    recipients on the first day with email, the second …, such as 200, 200, 1000"""
    notes: Annotated[str | None, Field(max_length=998)] = None
    """Notes (optional)"""


class CredentialsForm(FormSchema):
    """The form of new credentials for the API of the provider."""

    username: Annotated[str | None, Field(max_length=320)] = None
    """User name, mailbox or id of the key, where the provider has one"""
    password: Annotated[str, SecretText(), Field(max_length=65_536)]
    """New API key, or the JSON document with the credentials"""


class ServerForm(FormSchema):
    """The form of a new connection to a server."""

    host: Annotated[str, Field(max_length=253)]
    """Server"""
    port: int | None = None
    """Port (empty: the usual one)"""
    tls_mode: Annotated[Tls, Choices(_TLS_WORDS)] = Tls.STARTTLS
    """Encryption"""
    username: Annotated[str | None, Field(max_length=320)] = None
    """User name (empty: no login)"""
    password: Annotated[str | None, SecretText(), Field(max_length=65_536)] = None
    """Password, app password or SMTP key:
    typed again with every change, because it is used with no other server"""


async def name(context: PageContext, conn: Conn) -> str:
    """Return the name of the account of the path."""
    return (await account_in_path(context, conn)).name


async def first_settings(context: PageContext, conn: Conn) -> Mapping[str, str]:
    """Return what the form of an account holds at first."""
    found = await account_in_path(context, conn)
    names = set(SenderForm.model_fields) - {"warm_up", "is_fallback", "rate_per_second"}
    values = {name: getattr(found, name) for name in names}
    rate = found.rate_per_second
    return {name: "" if value is None else str(value) for name, value in values.items()} | {
        "rate_per_second": "" if rate is None else f"{rate:.12g}",
        "warm_up": ", ".join(map(str, found.warm_up or ())),
        "is_fallback": "on" if found.is_fallback else "",
    }


async def change_settings(context: PageContext, conn: Conn, form: SenderForm) -> str:
    """Change an account; return the path of its page.

    Raises:
        InvalidField: a value is out of its range.
    """
    found = await account_in_path(context, conn)
    limits = LimitsChange(
        **{name: getattr(form, name) for name in _LIMITS}, warm_up=_stages(form.warm_up or "")
    )
    wanted = SenderChange(
        email=form.email,
        display_name=form.display_name,
        priority=form.priority,
        is_fallback=form.is_fallback,
        notes=form.notes,
        limits=limits,
    )
    return await _changed(context, conn, found, wanted)


async def first_server(context: PageContext, conn: Conn) -> Mapping[str, str]:
    """Return what the form of a connection holds at first: never the password."""
    found = await account_in_path(context, conn)
    return {
        "host": found.smtp_host or "",
        "port": str(found.smtp_port or ""),
        "tls_mode": str(found.smtp_tls),
        "username": found.smtp_username or "",
    }


async def change_server(context: PageContext, conn: Conn, form: ServerForm) -> str:
    """Connect an account to a server anew; return the path of its page.

    Raises:
        InvalidField: a value is invalid, or there is a user name without a password.
        Conflict: the account sends by an API.
    """
    found = await account_in_path(context, conn)
    if found.provider.has_api:
        raise Conflict(f"{found.name} sends by the API of {found.provider.facts.label}")
    is_same = form.host.lower() == (found.smtp_host or "").lower()
    way = NewSender(
        name=found.name,
        host=form.host,
        port=form.port,
        tls=form.tls_mode,
        username=form.username,
        password=Secret(form.password) if form.password else None,
        settings=found.provider_settings,
        # Who administers the installation may name hosts of its network.
        is_private_ok=context.may(Right.ADMINISTER) or (is_same and found.is_private_ok),
    )
    return await _changed(context, conn, found, SenderChange(way=way))


async def first_key(context: PageContext, conn: Conn) -> Mapping[str, str]:
    """Return what the form of credentials holds at first: never the key."""
    found = await account_in_path(context, conn)
    return {"username": found.smtp_username or ""}


async def change_key(context: PageContext, conn: Conn, form: CredentialsForm) -> str:
    """Replace the credentials of an account at its provider; return the path of its page.

    Raises:
        InvalidField: the provider has no such credentials.
        Conflict: the account sends by SMTP.
    """
    found = await account_in_path(context, conn)
    if not found.provider.has_api:
        raise Conflict(f"{found.name} sends by SMTP")
    way = NewSender(
        name=found.name,
        provider=found.provider,
        host=found.smtp_host,
        port=found.smtp_port,
        username=form.username,
        password=Secret(form.password),
        api_url=found.api_url,
        settings=found.provider_settings,
        is_private_ok=found.is_private_ok,
    )
    return await _changed(context, conn, found, SenderChange(way=way))


async def _changed(
    context: PageContext,
    conn: Conn,
    found: SenderAccount,
    wanted: SenderChange,
) -> str:
    try:
        await changing.change(
            conn,
            found.project,
            account_id=found.id,
            change=wanted,
            master=master_key_of(context.console.settings),
            by=context.user.by,
        )
    except InvalidField as exc:
        if exc.field == "api_key":
            raise InvalidField("password", exc.why) from exc
        raise
    except (ConfigError, Locked) as exc:
        raise InvalidField("password", str(exc)) from exc
    return path_of(context, found, done="changed")


def _stages(typed: str) -> tuple[int, ...] | None:
    """Return the daily limits that were typed; None if there are none. Pure.

    Raises:
        InvalidField: one of them is no number.
    """
    words = typed.replace(",", " ").split()
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) <= 10):
            raise InvalidField("warm_up", f"must be whole numbers, got {word[:40]!r}")
    return tuple(map(int, words)) or None


PAGES = (
    *form_pages(
        f"{SENDER}/change",
        Right.CONFIGURE,
        FormPage(
            "Change the sender account",
            "Save the account",
            SenderForm,
            change_settings,
            consequence="Workers use the new values within a second. What was sent today counts "
            "against the new limits.",
            named=name,
            first=first_settings,
        ),
    ),
    *form_pages(
        f"{SENDER}/server",
        Right.CONFIGURE,
        FormPage(
            "Change the server of",
            "Save the server",
            ServerForm,
            change_server,
            consequence="Emails that are queued for the account are sent by the new server.",
            named=name,
            first=first_server,
        ),
        step_up=True,
    ),
    *form_pages(
        f"{SENDER}/key",
        Right.CONFIGURE,
        FormPage(
            "Change the credentials of",
            "Save the credentials",
            CredentialsForm,
            change_key,
            consequence="The account sends with the new credentials within a second.",
            named=name,
            first=first_key,
        ),
        step_up=True,
    ),
)
