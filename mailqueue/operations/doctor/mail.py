"""Checks of mail that SQL cannot do: stored passwords, files, books."""

from mailqueue.core.errors import MailqueueError
from mailqueue.mail.message.verify_files import check_files
from mailqueue.operations import books
from mailqueue.operations.doctor.context import Patient, plural, some, sound, unsound
from mailqueue.operations.model import Finding
from mailqueue.operations.store import health as health_store
from mailqueue.senders import accounts
from mailqueue.vault.vault import check_master_key

FEW_BYTES = 32 * 1024 * 1024
"""Bytes of attachment files that are read; `mailqueue verify --files` reads all."""
FEW = 1_000_000
"""Most mails whose books are compared here; `mailqueue verify` compares any number."""


async def credentials(patient: Patient) -> Finding:
    """Check that stored passwords can be opened."""
    sealed = [s for s in await accounts.list_all(patient.conn) if s.smtp_password is not None]
    if not sealed:
        return sound("credentials", "none are stored")
    try:
        master = patient.read_master_key()
        await check_master_key(patient.conn, master)
        for account in sealed:
            await accounts.password_of(patient.conn, account, master=master)
    except MailqueueError as exc:
        return unsound(
            "credentials",
            f"stored passwords cannot be opened: {exc}",
            fix="set MAILQUEUE_MASTER_KEY to the key they were encrypted with, or set new "
            "passwords with `mailqueue sender`",
        )
    return sound("credentials", f"{plural(len(sealed), 'stored password')} can be opened")


async def attachment_files(patient: Patient) -> Finding:
    """Check that attachments in folders and buckets exist."""
    checked = await check_files(patient.conn, patient.shelf, most_bytes=FEW_BYTES)
    if checked.faults:
        return unsound(
            "attachment files",
            some(list(checked.faults), most=1),
            fix="restore them from a backup; `mailqueue verify --files` lists all",
        )
    says = f"{plural(checked.files, 'file')} read" if checked.files else "all are in the database"
    return sound("attachment files", says)


async def compare_books(patient: Patient) -> None:
    """Compare the books of small installations, so that view health has a new result."""
    if await health_store.emails_roughly(patient.conn) < FEW:
        await books.check(patient.conn)
