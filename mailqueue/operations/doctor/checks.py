"""The checks of an installation; earlier ones explain failures of later ones."""

from mailqueue.contract.administration import HealthCheck
from mailqueue.core.errors import MailqueueError
from mailqueue.db.reported import reported
from mailqueue.operations.doctor import mail, server
from mailqueue.operations.doctor.context import Check, Patient, unsound
from mailqueue.operations.doctor.disk_space import report_once
from mailqueue.operations.doctor.retention import retention
from mailqueue.operations.model import Finding, State
from mailqueue.operations.store import health as health_store

# Checks that need no schema.
SERVER_CHECKS: tuple[Check, ...] = (
    server.server_version,
    server.encoding,
    server.isolation,
    server.roles,
    server.data_folder,
    server.schema,
)


async def examine(patient: Patient) -> list[Finding]:
    """Return the findings of all checks; those that need the schema are left out if it is another
    version.
    """
    findings = [await _run(check, patient) for check in SERVER_CHECKS]
    if findings[-1].is_ok:
        findings += await _health(patient)
        findings.append(await _run(mail.credentials, patient))
        findings.append(await _run(mail.attachment_files, patient))
        findings.append(await _run(retention, patient))
    return findings


async def _run(check: Check, patient: Patient) -> Finding:
    """Run a check; an exception becomes a finding with its text."""
    try:
        with reported(patient.settings.database):
            return await check(patient)
    except MailqueueError as exc:
        return _in_the_way(check.__name__.replace("_", " "), exc)


async def _health(patient: Patient) -> list[Finding]:
    """Return view health, after storing what SQL cannot measure."""
    try:
        with reported(patient.settings.database):
            if await health_store.may_tell(patient.conn):
                await mail.compare_books(patient)
                await report_once(patient.conn, patient.settings)
            return [_finding(row) for row in await health_store.read_health(patient.conn)]
    except MailqueueError as exc:
        return [_in_the_way("health", exc)]


def _finding(row: HealthCheck) -> Finding:
    state = State(row.state)
    return Finding(row.name, state is State.OK, row.found, row.fix, state)


def _in_the_way(check: str, exc: MailqueueError) -> Finding:
    return unsound(check, f"cannot be checked: {exc}", fix="fix this and check again")
