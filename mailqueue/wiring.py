"""The one place where adapters meet capabilities."""

from datetime import timedelta
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit
from uuid import UUID

from mailqueue.adapters.filestores.folder import FolderStore
from mailqueue.adapters.filestores.s3 import S3Store
from mailqueue.adapters.http.model import Reach, site_of
from mailqueue.adapters.http.posting import HttpPoster
from mailqueue.adapters.inbound.choice import providers
from mailqueue.adapters.inbound.fetching import fetcher
from mailqueue.adapters.oidc.documents import Fetcher
from mailqueue.adapters.oidc.keys import IssuerKeys
from mailqueue.adapters.oidc.tokens import SignedTokens
from mailqueue.adapters.sending.choice import service_of, smtp_tokens
from mailqueue.adapters.sending.http import HttpAccount, HttpTransport
from mailqueue.adapters.sending.oauth import Tokens
from mailqueue.adapters.sending.service import Access
from mailqueue.adapters.sending.smtp import SmtpAccount, SmtpTransport
from mailqueue.api.administrators import Administrators
from mailqueue.api.services import Services
from mailqueue.core.config import ArchiveSettings, Network, Settings
from mailqueue.core.errors import ConfigError
from mailqueue.core.places import AttachmentSettings
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool
from mailqueue.deliverability.signing import signers_of
from mailqueue.dkim.signer import Signers
from mailqueue.inbound.worker import Tools as InboundTools
from mailqueue.mail.courier import Courier, CourierSettings
from mailqueue.mail.desk import Account
from mailqueue.mail.dressing import Dresses
from mailqueue.mail.ownserver import Ways
from mailqueue.mail.shelf import FileShelf
from mailqueue.ports.filestore import Store
from mailqueue.ports.transport import Transport
from mailqueue.senders import accounts, identity
from mailqueue.senders.inline import InlineServer
from mailqueue.senders.model import Provider, SenderAccount
from mailqueue.smtp.session import TlsMode
from mailqueue.smtp.transcript import Transcript
from mailqueue.tracking.dresser import Dresser
from mailqueue.tracking.keyring import Keyring
from mailqueue.vault.masterkey import MasterKey, master_key_of
from mailqueue.webhooks.worker import Tools

SIGNED_HERE = frozenset({Provider.SMTP, Provider.TRAP})
"""Others alter what they are given, and sign it themselves."""


def transport_for(
    account: SenderAccount,
    password: Secret | None,
    *,
    allowed_hosts: tuple[Network, ...] = (),
    transcript: Transcript | None = None,
) -> Transport:
    """Give the way out of a sender account; what is said by SMTP goes to the transcript.

    Raises:
        ConfigError: if the account has no server, or a key of the wrong kind.
    """
    reach = Reach(account.is_private_ok, allowed_hosts)
    if account.provider.has_api:
        return _http_transport(account, password or Secret(""), reach)
    if account.smtp_host is None or account.smtp_port is None:
        raise ConfigError(f"sender account {account.name} has no server")
    return SmtpTransport(
        SmtpAccount(
            host=account.smtp_host,
            port=account.smtp_port,
            tls=TlsMode(account.smtp_tls),
            username=account.smtp_username or "",
            password=password or Secret(""),
            tokens=_tokens(account, password, reach),
            allow_private=account.is_private_ok,
            allowed_networks=allowed_hosts,
            max_messages=None,
        ),
        transcript=transcript,
    )


def inline_transport(server: InlineServer, *, allowed_hosts: tuple[Network, ...] = ()) -> Transport:
    """Give the way to a server named for one mail: as for saved accounts nobody vouched for."""
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


def _http_transport(account: SenderAccount, key: Secret, reach: Reach) -> Transport:
    try:
        access = Access(
            key,
            key_id=account.smtp_username or "",
            site=site_of(account.api_url) if account.api_url else None,
            settings=account.provider_settings or {},
        )
        return HttpTransport(service_of(account.provider, access, reach=reach), HttpAccount(reach))
    except ValueError as exc:
        raise ConfigError(f"sender account {account.name}: {exc}") from exc


def _tokens(account: SenderAccount, document: Secret | None, reach: Reach) -> Tokens | None:
    settings = account.provider_settings or {}
    if settings.get("auth") != "xoauth2" or document is None:
        return None
    try:
        return smtp_tokens(
            document,
            mailbox=account.smtp_username or "",
            token_url=str(settings.get("token_url") or ""),
            reach=reach,
        )
    except ValueError as exc:
        raise ConfigError(f"sender account {account.name}: {exc}") from exc


class ArchiveStores:
    """Opens the places of archive files, and of attachments."""

    def __init__(
        self, settings: ArchiveSettings, attachments: AttachmentSettings | None = None
    ) -> None:
        self._settings = settings
        self._attachments = attachments or AttachmentSettings()

    @property
    def shelf(self) -> FileShelf:
        return shelf_of(self._attachments)

    @property
    def warm(self) -> Store | None:
        return self.at(self._settings.warm) if self._settings.warm else None

    @property
    def cold(self) -> Store | None:
        return self.at(self._settings.cold) if self._settings.cold else None

    def at(self, url: str) -> Store:
        """Open the store of that address.

        Raises:
            ConfigError: it is no address of a store.
        """
        return _store_at(url, endpoint=self._settings.s3_endpoint)


def _store_at(url: str, *, endpoint: str | None) -> Store:
    parts = urlsplit(url)
    match parts.scheme:
        case "file":
            return FolderStore(Path(unquote(parts.path)))
        case "s3":
            return S3Store(url, endpoint=endpoint)
    raise ConfigError(f"files are in file:///folder or s3://bucket/prefix, not in {url}")


def shelf_of(settings: AttachmentSettings) -> FileShelf:
    """Open the places of attachments that are too large for the database.

    Raises:
        ConfigError: one of them cannot be opened from here.
    """
    places = [_store_at(url, endpoint=settings.s3_endpoint) for url in settings.places]
    return FileShelf(places, over_bytes=settings.over_bytes)


def build_courier(settings: Settings, *, launch_id: UUID) -> Courier:
    """Put a send worker together."""
    return Courier(
        settings.database,
        CourierSettings(in_flight=settings.workers.in_flight, batch=settings.workers.batch),
        launch_id=launch_id,
        read_account=SenderDirectory(settings).read,
        shelf=shelf_of(settings.attachments),
        dresses=Dresses(Dresser(keyring_of(settings), settings.tracking)),
        ways=Ways(
            read_master=partial(master_key_of, settings),
            transport_of=partial(inline_transport, allowed_hosts=settings.allowed_hosts),
        ),
    )


def poster_of(settings: Settings) -> HttpPoster:
    """Give what calls the endpoints of webhooks, through the outbound guard."""
    return HttpPoster(Reach(allowed_networks=settings.allowed_hosts))


def inbound_tools(settings: Settings) -> InboundTools:
    """Give who reads what providers told what it needs from outside."""
    fetch = fetcher(Reach(allowed_networks=settings.allowed_hosts))
    return InboundTools(providers(fetch), fetch, keyring_of(settings))


def webhook_tools(settings: Settings) -> Tools:
    """Give a worker of webhooks what it needs from outside."""
    return Tools(poster_of(settings), partial(master_key_of, settings))


def build_services(settings: Settings, pool: Pool) -> Services:
    """Give the endpoints of the API what they need from outside it."""

    def open_way(
        account: SenderAccount, password: Secret | None, transcript: Transcript
    ) -> Transport:
        return transport_for(
            account, password, allowed_hosts=settings.allowed_hosts, transcript=transcript
        )

    keyring = keyring_of(settings)
    return Services(
        keyring=keyring,
        dresses=Dresses(Dresser(keyring, settings.tracking)),
        admin_of=administrators_of(settings, pool).of,
        open_way=open_way,
        inbound=inbound_tools(settings).providers,
        transport_of=partial(inline_transport, allowed_hosts=settings.allowed_hosts),
        make_poster=partial(poster_of, settings),
        shelf=shelf_of(settings.attachments),
    )


def keyring_of(settings: Settings) -> Keyring:
    """Give what makes and opens the tokens of links in mail."""
    return Keyring(partial(master_key_of, settings))


def administrators_of(settings: Settings, pool: Pool) -> Administrators:
    """Give who knows administrators: by tokens of ours, and of the issuer where one is set."""
    if settings.oidc is None:
        return Administrators(pool, settings.database)
    fetcher = Fetcher(Reach(allowed_networks=settings.allowed_hosts))
    keys = IssuerKeys(settings.oidc.issuer, fetcher)
    return Administrators(pool, settings.database, SignedTokens(settings.oidc, keys))


class SenderDirectory:
    """Looks sender accounts up for the lines of a worker, passwords opened."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._keyring = keyring_of(settings)

    async def read(self, conn: Conn, account_id: int) -> Account:
        """Give the account as a line needs it.

        Raises:
            NotFound: there is no such account.
            ConfigError: its password cannot be opened here, or it has no server.
        """
        found = await identity.get(conn, account_id)
        master = self._master() if found.smtp_password else None
        password = await accounts.password_of(conn, found, master=master)
        who = await identity.identity_of(conn, found)
        returns = None
        if who.bounce_domain is not None:
            returns = await self._keyring.of(conn, found.project_id)
        return Account(
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
