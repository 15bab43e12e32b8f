"""Compare an archive file with the manifest."""

from mailqueue.maintenance.archive import file_format
from mailqueue.maintenance.model import Archive, ArchiveBroken
from mailqueue.ports.filestore import FileMissing, Store


async def check(store: Store, archive: Archive) -> None:
    """Read a whole file and compare it with the manifest.

    Raises:
        ArchiveBroken: it is another file, damaged, or missing.
    """
    try:
        found = await file_format.read_back(store, archive)
    except FileMissing as exc:
        raise ArchiveBroken(
            f"{archive.name} is missing: {exc}; it was written on {archive.written_on}"
        ) from exc
    for what in ("records", "bytes", "sha256"):
        wanted, got = getattr(archive, what), getattr(found, what)
        if wanted != got:
            raise ArchiveBroken(f"{archive.name} is damaged: {what} is {got}, not {wanted}")
