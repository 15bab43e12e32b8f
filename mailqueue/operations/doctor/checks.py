"""The checks of an installation; earlier ones explain failures of later ones."""

from mailqueue.contract.admin import HealthCheck
from mailqueue.core.errors import MailqueueError
from mailqueue.db.reported import reported
from mailqueue.operations.doctor import mail, server, services
from mailqueue.operations.doctor.certificates import submission_certificate
from mailqueue.operations.doctor.context import Check, CheckContext, problem
from mailqueue.operations.doctor.disk_space import report_once
from mailqueue.operations.doctor.replica import replica
from mailqueue.operations.doctor.retention import retention
from mailqueue.operations.model import CheckState, Finding
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

# Checks that SQL cannot do; the view health has the others. docs/adding/check.md is the guide.
CHECKS: tuple[Check, ...] = (
    mail.credentials,
    mail.attachment_files,
    services.configured_services,
    submission_certificate,
    replica,
    retention,
)


async def examine(context: CheckContext) -> list[Finding]:
    """Return the findings of all checks; those that need the schema are left out if it is another
    version.
    """
    findings = [await _run(check, context) for check in SERVER_CHECKS]
    if findings[-1].is_ok:
        findings += await _health(context)
        findings += [await _run(check, context) for check in CHECKS]
    return findings


async def _run(check: Check, context: CheckContext) -> Finding:
    """Run a check; an exception becomes a finding with its text."""
    try:
        with reported(context.settings.database):
            return await check(context)
    except MailqueueError as exc:
        return _in_the_way(check.__name__.replace("_", " "), exc)


async def _health(context: CheckContext) -> list[Finding]:
    """Return view health, after storing what SQL cannot measure."""
    try:
        with reported(context.settings.database):
            if await health_store.may_tell(context.conn):
                await mail.compare_books(context)
                await report_once(context.conn, context.settings)
            return [_finding(row) for row in await health_store.read_health(context.conn)]
    except MailqueueError as exc:
        return [_in_the_way("health", exc)]


def _finding(row: HealthCheck) -> Finding:
    state = CheckState(row.state)
    return Finding(row.name, state is CheckState.OK, row.found, row.fix, state)


def _in_the_way(check: str, exc: MailqueueError) -> Finding:
    return problem(check, f"cannot be checked: {exc}", fix="fix this and check again")
