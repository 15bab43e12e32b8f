"""What the console builds messages from."""

from mailqueue.mail.message.preview import MessageSources
from mailqueue.mail.message.tracking import EmailTracking
from mailqueue.settings.environment import Settings
from mailqueue.templates.cache import TemplateCache
from mailqueue.tracking.injector import TrackingInjector
from mailqueue.wiring.files import attachment_storage
from mailqueue.wiring.keyring import keyring_of


def message_sources(settings: Settings) -> MessageSources:
    """Return the attachment storage, templates and tracking of messages that are shown."""
    return MessageSources(
        attachment_storage(settings.attachments),
        TemplateCache(),
        EmailTracking(TrackingInjector(keyring_of(settings), settings.tracking)),
    )
