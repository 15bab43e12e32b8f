"""Dependencies of endpoints outside the API, injected at startup. Values only."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from mailqueue.admin.users.passwords import Passwords
from mailqueue.core.errors import Conflict, Unauthorized
from mailqueue.mail.message.file_storage import AttachmentStorage
from mailqueue.mail.message.tracking import EmailTracking
from mailqueue.operations.activity import Activity
from mailqueue.ports.channel import InstalledApp, PhoneSender, ReplyPoster
from mailqueue.ports.inbound import InboundProvider
from mailqueue.ports.mailbox import InboxConsents, InboxPushes
from mailqueue.ports.transport import Transport
from mailqueue.projects.model import Admin
from mailqueue.queue.turns import SharedTurns
from mailqueue.rendering.process.host import CompileProcess
from mailqueue.senders.custom_smtp import CustomSmtpServer
from mailqueue.senders.trial import OpenTransport, no_account
from mailqueue.templates.cache import TemplateCache
from mailqueue.tracking.keyring import Keyring
from mailqueue.webhooks.trial import MakePoster, no_poster

AdminOf = Callable[[str], Awaitable[Admin]]
"""Return the administrator who owns a token; raise Unauthorized if it is not valid."""


TransportOf = Callable[[CustomSmtpServer], Transport]


def no_transport(server: CustomSmtpServer) -> Transport:  # noqa: ARG001
    """Raise ConfigError: no server can be reached."""
    raise Conflict("this process does not send emails")


async def no_admin(token: str) -> Admin:  # noqa: ARG001
    """Raise: there are no administrators."""
    raise Unauthorized("this token is not valid")


@dataclass(frozen=True, slots=True)
class Services:
    """One field per dependency, with the default that is used when none is injected."""

    admin_of: AdminOf = no_admin
    open_way: OpenTransport = no_account
    transport_of: TransportOf = no_transport  # transport of a server that is named for one mail
    make_poster: MakePoster = no_poster
    slack_app: InstalledApp | None = None  # None: none is set
    phone_sender: PhoneSender | None = None  # None: none is set
    slack_replies: ReplyPoster | None = None  # answers persons who pressed a button
    storage: AttachmentStorage = field(default_factory=AttachmentStorage)  # large attachments
    # Compiles and previews templates.
    compile_process: CompileProcess = field(default_factory=CompileProcess)
    keyring: Keyring = field(default_factory=lambda: Keyring(lambda: None))  # tokens in links
    # Injects tracking into mail that the API process sends.
    tracking: EmailTracking = field(default_factory=EmailTracking)
    inbound: Mapping[str, InboundProvider] = field(
        default_factory=dict
    )  # sources of events, by name
    activity: Activity = field(default_factory=Activity)  # what all projects send now
    # Asks the owners of inboxes for their consent; None: this installation has no client for it.
    inbox_consents: InboxConsents | None = None
    passwords: Passwords = field(default_factory=Passwords)  # of inbox users
    inbox_pushes: InboxPushes | None = None  # reads pushes of Gmail; None: none are asked for
    # Versions from which mail is accepted.
    template_cache: TemplateCache = field(default_factory=TemplateCache)
    # Of requests that judge many mails one after the other.
    turns: SharedTurns = field(default_factory=SharedTurns)
