"""Files in Amazon S3 or a compatible service.

Keys and region are read from the usual environment variables (AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_REGION …), or from the host's IAM role.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from mailqueue.core.errors import ConfigError, Unavailable
from mailqueue.ports.filestore import FileMissing, Listed

_CHUNK = 1 << 20


class S3Store:
    """A prefix of a bucket; `url` is s3://bucket/prefix."""

    def __init__(self, url: str, *, endpoint: str | None = None) -> None:
        # The package is needed for S3 only.
        try:
            import obstore
            from obstore import exceptions
            from obstore.store import S3Store as Bucket
        except ImportError as exc:
            raise ConfigError(
                "s3:// needs the package obstore: pip install 'mailqueue[s3]'"
            ) from exc
        parts = urlsplit(url)
        self._url = url.rstrip("/")
        self._client = obstore
        self._missing = (FileNotFoundError, exceptions.NotFoundError)
        self._faults = (exceptions.BaseError, OSError)
        if not parts.netloc:
            raise ConfigError(f"an S3 location must be s3://bucket/prefix, got {url}")
        try:
            self._bucket = Bucket(
                parts.netloc,
                prefix=parts.path.strip("/") or None,
                endpoint=endpoint,
                client_options={
                    "allow_http": bool(endpoint and endpoint.startswith("http://")),
                    "timeout": timedelta(minutes=5),
                    "connect_timeout": timedelta(seconds=10),
                },
                retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=60)},
            )
        except exceptions.BaseError as exc:
            raise ConfigError(f"{self._url}: {_first_line(exc)}") from exc

    @property
    def url(self) -> str:
        return self._url

    @property
    def drafts(self) -> Path | None:
        return None

    async def put(self, path: str, source: Path) -> None:
        """Store a file; large files are uploaded in parts that become visible together."""
        with self._errors_translated(path):
            await self._client.put_async(self._bucket, path, source)

    async def chunks(self, path: str) -> AsyncIterator[bytes]:
        """Yield the bytes of a file in chunks."""
        with self._errors_translated(path):
            found = await self._client.get_async(self._bucket, path)
            async for chunk in found.stream(min_chunk_size=_CHUNK):
                yield bytes(chunk)

    async def listed(self, folder: str) -> AsyncIterator[list[Listed]]:
        """Yield the files below a folder in batches."""
        with self._errors_translated(folder):
            async for some in self._client.list(self._bucket, prefix=folder or None):
                yield [Listed(one["path"], one["size"], one["last_modified"]) for one in some]

    async def delete(self, path: str) -> None:
        """Delete a file; it is not an error if the file does not exist."""
        try:
            with self._errors_translated(path):
                await self._client.delete_async(self._bucket, path)
        except FileMissing:
            return

    @contextmanager
    def _errors_translated(self, path: str) -> Iterator[None]:
        try:
            yield
        except self._missing as exc:
            raise FileMissing(f"{path} is not in {self._url}") from exc
        except self._faults as exc:
            raise Unavailable(f"{self._url}: {_first_line(exc)}") from exc


def _first_line(exc: Exception) -> str:
    return (str(exc).strip().splitlines() or [type(exc).__name__])[0][:300]
