"""The checks of an installation, in the order in which their faults explain each other."""

from mailqueue.core.errors import MailqueueError
from mailqueue.db.reported import reported
from mailqueue.operations import checks_mail, checks_server
from mailqueue.operations.model import Finding
from mailqueue.operations.patient import Check, Patient, unsound

# What can be said of any server.
SERVER_CHECKS: tuple[Check, ...] = (
    checks_server.server_version,
    checks_server.encoding,
    checks_server.durability,
    checks_server.isolation,
    checks_server.roles,
    checks_server.data_folder,
    checks_server.long_transactions,
    checks_server.schema,
)

# What can be asked once the schema is the one this code knows.
SCHEMA_CHECKS: tuple[Check, ...] = (
    checks_server.partitions,
    checks_mail.workers,
    checks_mail.silent_workers,
    checks_mail.oldest_due,
    checks_mail.lanes_without_sender,
    checks_mail.held_mail,
    checks_mail.stopped_senders,
    checks_mail.credentials,
    checks_mail.books_add_up,
    checks_mail.stale_waiters,
)


async def examine(patient: Patient) -> list[Finding]:
    """Run the checks; those that need the schema only where it is the right one."""
    findings = [await _run(check, patient) for check in SERVER_CHECKS]
    if findings[-1].is_ok:
        findings += [await _run(check, patient) for check in SCHEMA_CHECKS]
    return findings


async def _run(check: Check, patient: Patient) -> Finding:
    """A check that cannot be made is a finding too: it says what is in the way."""
    try:
        with reported(patient.settings.database):
            return await check(patient)
    except MailqueueError as exc:
        name = check.__name__.replace("_", " ")
        return unsound(name, f"cannot be checked: {exc}", fix="see to that and check again")
