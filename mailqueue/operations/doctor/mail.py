"""Checks of mail that SQL cannot do: stored passwords, files, books."""

from mailqueue.core.errors import MailqueueError
from mailqueue.mail.message.verify_files import check_files
from mailqueue.operations import books
from mailqueue.operations.doctor.context import CheckContext, passed, plural, problem, some
from mailqueue.operations.model import Finding
from mailqueue.operations.store import health as health_store
from mailqueue.senders import accounts
from mailqueue.vault.vault import check_master_key

FEW_BYTES = 32 * 1024 * 1024
"""Bytes of attachment files that are read; `mailqueue verify --files` reads all."""
FEW = 1_000_000
"""Most mails whose books are compared here; `mailqueue verify` compares any number."""


async def credentials(context: CheckContext) -> Finding:
    """Check that stored passwords can be opened."""
    sealed = [s for s in await accounts.list_all(context.conn) if s.smtp_password is not None]
    if not sealed:
        return passed("credentials", "none are stored")
    try:
        master = context.read_master_key()
        await check_master_key(context.conn, master)
        for account in sealed:
            await accounts.password_of(context.conn, account, master=master)
    except MailqueueError as exc:
        return problem(
            "credentials",
            f"stored passwords cannot be opened: {exc}",
            fix="set MAILQUEUE_MASTER_KEY to the key they were encrypted with, or set new "
            "passwords with `mailqueue sender`",
        )
    return passed("credentials", f"{plural(len(sealed), 'stored password')} can be opened")


async def attachment_files(context: CheckContext) -> Finding:
    """Check that attachments in folders and buckets exist."""
    checked = await check_files(context.conn, context.storage, max_bytes=FEW_BYTES)
    if checked.faults:
        return problem(
            "attachment files",
            some(list(checked.faults), limit=1),
            fix="restore them from a backup; `mailqueue verify --files` lists all",
        )
    says = f"{plural(checked.files, 'file')} read" if checked.files else "all are in the database"
    return passed("attachment files", says)


async def compare_books(context: CheckContext) -> None:
    """Compare the books of small installations, so that view health has a new result."""
    if await health_store.emails_roughly(context.conn) < FEW:
        await books.check(context.conn)
