"""`mailqueue verify`: check that every accepted email and every file is accounted for, and that the
audit log was not changed.
"""

import click

from mailqueue.audit.verify import verify as verify_audit
from mailqueue.cli.support.answer import execute, json_option, print_result
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import Column, examples, show, table
from mailqueue.contract.operations import AuditVerification, BookLine, Verification
from mailqueue.mail.message.verify_files import Checked, check_files
from mailqueue.operations import books
from mailqueue.wiring.files import attachment_storage

EXIT_DIFFERENCE = 1

# Statuses of mail; a status without mail is left out of the table.
_OUTCOMES = ("sent", "failed", "suppressed", "expired", "cancelled", "queued", "held")


@click.command(
    epilog=examples("mailqueue verify", "mailqueue verify --json", "mailqueue verify --files")
)
@click.option(
    "--files", "with_files", is_flag=True, help="Also read all attachments in folders and buckets."
)
@click.option(
    "--audit-head",
    metavar="HEAD",
    help="Head of the audit log as printed earlier: check that no seal up to it was removed.",
)
@json_option
@click.pass_context
def verify(ctx: click.Context, *, with_files: bool, audit_head: str | None) -> None:
    """Compare accepted emails with their outcomes, and the audit log with its seals; exit 1 if
    they differ.

    Accepted emails are counted from counters that the accepting transactions wrote, not from the
    rows of the emails, so that a lost row is detected. Rows of the audit log are compared with
    codes under a key that is not in the database; the first row that does not fit is named.
    """
    lines, checked, audit = execute(
        lambda app: _read(app, with_files=with_files, audit_head=audit_head)
    )
    faults = books.faults(lines)
    damaged = [] if checked is None else list(checked.faults)
    files = None if checked is None else checked.files
    wrong = [f"audit log: {each}" for each in audit.faults]
    document = Verification(not faults, faults + damaged + wrong, lines, files, audit)

    def as_text() -> None:
        _print(lines, faults)
        _print_files(checked)
        _print_audit(audit)

    print_result(document, as_text)
    if faults or damaged or wrong:
        ctx.exit(EXIT_DIFFERENCE)


def _print_files(checked: Checked | None) -> None:
    if checked is None:
        return
    for fault in checked.faults:
        click.echo(f"error: {show(fault)}", err=True)
    click.echo(f"{checked.files} files read, {len(checked.faults)} missing or damaged")


def _print_audit(audit: AuditVerification) -> None:
    for fault in audit.faults:
        click.echo(f"error: audit log: {show(fault)}", err=True)
    if audit.why_not is not None:
        click.echo(f"audit log: not verified, {audit.why_not}")
        return
    said = f"audit log: {audit.sealed} rows sealed"
    if audit.changed:
        said += f", {audit.changed} permitted changes"
    if audit.waiting:
        said += f", {audit.waiting} not sealed yet"
    if audit.deleted_until is not None:
        said += f", older rows deleted by retention at {audit.deleted_until:%Y-%m-%d %H:%M:%S} UTC"
    click.echo(said)
    if audit.head is not None:
        click.echo(f"audit log head: {audit.head}")


def _print(lines: list[BookLine], faults: list[str]) -> None:
    if lines:
        table(lines, _columns(lines))
    for fault in faults:
        click.echo(f"error: {fault}", err=True)
    if not faults:
        accepted = sum(line.accepted for line in lines)
        click.echo(f"all {accepted} accepted emails are accounted for")


def _columns(lines: list[BookLine]) -> list[Column]:
    outcomes = [word for word in _OUTCOMES if any(getattr(line, word) for line in lines)]
    counts = ("accepted", *outcomes, "difference")
    return [
        Column("project", "PROJECT"),
        Column("day", "DAY (UTC)"),
        *(Column(name, name.upper(), numeric=True) for name in counts),
    ]


async def _read(
    app: Opened, *, with_files: bool, audit_head: str | None
) -> tuple[list[BookLine], Checked | None, AuditVerification]:
    lines = await books.check(app.conn)
    audit = await verify_audit(app.conn, app.master_key(), known_head=audit_head)
    if not with_files:
        return lines, None, audit
    storage = attachment_storage(app.settings.attachments)
    return lines, await check_files(app.conn, storage), audit
