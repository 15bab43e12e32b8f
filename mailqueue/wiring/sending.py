"""Build a send worker, and the transports of sender accounts."""

from datetime import timedelta
from functools import partial
from uuid import UUID

from mailqueue.adapters.http.model import NetworkPolicy, read_origin
from mailqueue.adapters.providers import service_of
from mailqueue.adapters.sending.api import ProviderAccount
from mailqueue.adapters.sending.http import HttpAccount, HttpTransport
from mailqueue.adapters.sending.oauth import Tokens
from mailqueue.adapters.sending.smtp import SmtpAccount, SmtpTransport
from mailqueue.adapters.sending.tokens import smtp_tokens
from mailqueue.core.errors import ConfigError
from mailqueue.core.outbound_guard import IpNetwork
from mailqueue.core.providers import Provider
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.dkim.signer import Signers
from mailqueue.domains.signing import signers_of
from mailqueue.mail.custom_smtp.handler import CustomSmtpHandler, CustomSmtpTools
from mailqueue.mail.message.tracking import EmailTracking
from mailqueue.mail.send.context import SendAccount, SendWorkerSettings
from mailqueue.mail.send.stages import StageClock
from mailqueue.mail.send.worker import SendWorker
from mailqueue.ports.transport import Transport
from mailqueue.queue.in_progress import InProgress
from mailqueue.senders import accounts, identity
from mailqueue.senders.custom_smtp import CustomSmtpServer
from mailqueue.senders.model import SenderAccount
from mailqueue.settings.environment import Settings
from mailqueue.smtp.client.session import TlsMode
from mailqueue.smtp.client.transcript import Transcript
from mailqueue.tracking.injector import TrackingInjector
from mailqueue.vault.masterkey import MasterKey, master_key_of
from mailqueue.wiring.files import attachment_storage
from mailqueue.wiring.keyring import keyring_of

SIGNED_HERE = frozenset({Provider.SMTP, Provider.TRAP})
"""Providers whose mail we sign; the others change the message and sign it themselves."""


def transport_for(
    account: SenderAccount,
    password: Secret | None,
    *,
    allowed_hosts: tuple[IpNetwork, ...] = (),
    transcript: Transcript | None = None,
) -> Transport:
    """Return the transport of a sender account; its SMTP dialogue is written to the transcript.

    Raises:
        ConfigError: the account has no server, or a key of the wrong kind.
    """
    policy = NetworkPolicy(account.is_private_ok, allowed_hosts)
    if account.provider.has_api:
        return _http_transport(account, password or Secret(""), policy)
    if account.smtp_host is None or account.smtp_port is None:
        raise ConfigError(f"sender account {account.name} has no server")
    return SmtpTransport(
        SmtpAccount(
            host=account.smtp_host,
            port=account.smtp_port,
            tls=TlsMode(account.smtp_tls),
            username=account.smtp_username or "",
            password=password or Secret(""),
            tokens=_tokens(account, password, policy),
            allow_private=account.is_private_ok,
            allowed_networks=allowed_hosts,
            max_messages=None,
        ),
        transcript=transcript,
    )


def custom_smtp_transport(
    server: CustomSmtpServer, *, allowed_hosts: tuple[IpNetwork, ...] = ()
) -> Transport:
    """Return the transport for a server named for one mail, checked as strictly as untrusted
    accounts.
    """
    return SmtpTransport(
        SmtpAccount(
            host=server.host,
            port=server.port,
            tls=TlsMode(server.tls),
            username=server.username.reveal(),
            password=server.password,
            allowed_networks=allowed_hosts,
            max_messages=1,
        )
    )


def _http_transport(account: SenderAccount, key: Secret, policy: NetworkPolicy) -> Transport:
    try:
        access = ProviderAccount(
            key,
            key_id=account.smtp_username or "",
            site=read_origin(account.api_url) if account.api_url else None,
            settings=account.provider_settings or {},
        )
        return HttpTransport(
            service_of(account.provider, access, policy=policy), HttpAccount(policy)
        )
    except ValueError as exc:
        raise ConfigError(f"sender account {account.name}: {exc}") from exc


def _tokens(
    account: SenderAccount, document: Secret | None, policy: NetworkPolicy
) -> Tokens | None:
    settings = account.provider_settings or {}
    if settings.get("auth") != "xoauth2" or document is None:
        return None
    try:
        return smtp_tokens(
            document,
            mailbox=account.smtp_username or "",
            token_url=str(settings.get("token_url") or ""),
            policy=policy,
        )
    except ValueError as exc:
        raise ConfigError(f"sender account {account.name}: {exc}") from exc


def build_send_worker(
    settings: Settings,
    *,
    launch_id: UUID,
    in_progress: InProgress | None = None,
    is_alone: bool = False,
) -> SendWorker:
    """Return a send worker; with `is_alone` for emails whose worker stopped before, one by one."""
    limits = settings.workers
    return SendWorker(
        settings.database,
        SendWorkerSettings(in_flight=1, batch=1, is_alone=True)
        if is_alone
        else SendWorkerSettings(in_flight=limits.in_flight, batch=limits.batch),
        launch_id=launch_id,
        in_progress=in_progress,
        read_account=SenderDirectory(settings).read,
        storage=attachment_storage(settings.attachments),
        tracking=_tracking(settings),
        stages=None if settings.traces.url is None else StageClock(settings.traces.ratio),
    )


def custom_smtp_handler(settings: Settings) -> CustomSmtpHandler:
    """Return the handler of queue `custom-smtp`."""
    tools = CustomSmtpTools(
        read_master=partial(master_key_of, settings),
        transport_of=partial(custom_smtp_transport, allowed_hosts=settings.allowed_hosts),
        storage=attachment_storage(settings.attachments),
        tracking=_tracking(settings),
    )
    return CustomSmtpHandler(settings.database, tools)


def _tracking(settings: Settings) -> EmailTracking:
    return EmailTracking(TrackingInjector(keyring_of(settings), settings.tracking))


class SenderDirectory:
    """Reads sender accounts for the send worker, with opened passwords."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._keyring = keyring_of(settings)

    async def read(self, conn: Conn, account_id: int) -> SendAccount:
        """Return the account and its transport.

        Raises:
            NotFound: there is no such account.
            ConfigError: its password cannot be opened here, or it has no server.
        """
        found = await identity.get(conn, account_id)
        master = self._master() if found.smtp_password else None
        password = await accounts.password_of(conn, found, master=master)
        who = await identity.mail_defaults_of(conn, found)
        returns = None
        if who.bounce_domain is not None:
            returns = await self._keyring.of(conn, found.project_id)
        return SendAccount(
            id=found.id,
            revision=found.revision,
            identity=who,
            max_connections=found.max_connections,
            send_delay=timedelta(milliseconds=found.send_delay_ms),
            transport=transport_for(found, password, allowed_hosts=self._settings.allowed_hosts),
            signers=await self._signers(conn, found),
            wants_tags=found.provider.has_api,
            returns=returns,
        )

    async def _signers(self, conn: Conn, account: SenderAccount) -> Signers:
        if account.provider not in SIGNED_HERE:
            return Signers()
        return await signers_of(conn, account.project_id, read_master=self._master)

    def _master(self) -> MasterKey | None:
        return master_key_of(self._settings)
