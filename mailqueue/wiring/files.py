"""Open storage for attachments and archives, in folders and buckets."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from mailqueue.adapters.filestores.folder import FolderStore
from mailqueue.adapters.filestores.s3 import S3Store
from mailqueue.core.errors import ConfigError
from mailqueue.mail.message.file_storage import AttachmentStorage
from mailqueue.ports.filestore import Store
from mailqueue.settings.archive import ArchiveSettings
from mailqueue.settings.attachments import AttachmentSettings


class ArchiveStores:
    """Opens the storage of archive files and of attachments."""

    def __init__(
        self, settings: ArchiveSettings, attachments: AttachmentSettings | None = None
    ) -> None:
        self._settings = settings
        self._attachments = attachments or AttachmentSettings()

    @property
    def attachments(self) -> AttachmentStorage:
        return attachment_storage(self._attachments)

    @property
    def warm(self) -> Store | None:
        return self.at(self._settings.warm) if self._settings.warm else None

    @property
    def cold(self) -> Store | None:
        return self.at(self._settings.cold) if self._settings.cold else None

    def at(self, url: str) -> Store:
        """Return the storage at a URL.

        Raises:
            ConfigError: it is not the URL of a storage.
        """
        return _store_at(url, endpoint=self._settings.s3_endpoint)


def _store_at(url: str, *, endpoint: str | None) -> Store:
    parts = urlsplit(url)
    match parts.scheme:
        case "file":
            return FolderStore(Path(unquote(parts.path)))
        case "s3":
            return S3Store(url, endpoint=endpoint)
    raise ConfigError(f"a file store must be file:///folder or s3://bucket/prefix, got {url}")


def attachment_storage(settings: AttachmentSettings) -> AttachmentStorage:
    """Open the storage of attachments that are too large for the database.

    Raises:
        ConfigError: one of them cannot be opened from here.
    """
    places = [_store_at(url, endpoint=settings.s3_endpoint) for url in settings.places]
    return AttachmentStorage(places, over_bytes=settings.over_bytes)
