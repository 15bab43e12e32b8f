"""Whether mail flows: workers, lanes, accounts, credentials, books."""

from datetime import timedelta

from mailqueue.core.errors import MailqueueError
from mailqueue.operations import books, store
from mailqueue.operations.model import Finding
from mailqueue.operations.patient import Patient, plural, some, sound, unsound
from mailqueue.senders import accounts
from mailqueue.vault.vault import check_master_key

LATE = timedelta(minutes=5)


async def workers(patient: Patient) -> Finding:
    """Somebody sends."""
    running = [w for w in await store.workers_seen(patient.conn) if w.status == "running"]
    if running:
        return sound("workers", f"{plural(len(running), 'worker')} running")
    return unsound(
        "workers",
        "no worker is running, so no mail is sent",
        fix="start one with `mailqueue worker send`",
    )


async def silent_workers(patient: Patient) -> Finding:
    """No mail is in the hands of a worker that is gone."""
    found = [
        worker
        for worker in await store.workers_seen(patient.conn)
        if worker.assigned and worker.status in ("silent", "lost")
    ]
    if not found:
        return sound("silent workers", "none holds mail")
    told = [f"{w.id} ({w.host}, pid {w.pid}) {plural(w.assigned, 'mail')}" for w in found]
    return unsound(
        "silent workers",
        f"workers that are not heard of hold mail: {some(told)}",
        fix="start a worker, which gives their mail back, and look at why they stopped",
    )


async def oldest_due(patient: Patient) -> Finding:
    """Mail that nothing stands in the way of is sent soon."""
    lanes = [lane for lane in await store.lane_depths(patient.conn) if not lane.blocked_reason]
    waits = [(lane.oldest_wait, lane) for lane in lanes if lane.oldest_wait is not None]
    if not waits:
        return sound("oldest mail", "none is due and free to go")
    wait, lane = max(waits, key=lambda pair: pair[0])
    told = f"the oldest mail that is due and free to go waits for {int(wait.total_seconds())} s"
    if wait <= LATE:
        return sound("oldest mail", told)
    return unsound(
        "oldest mail",
        f"{told}, in project {lane.project}, route {lane.route}",
        fix="see `mailqueue why ID` for one of them; if workers are busy, start more",
    )


async def lanes_without_sender(patient: Patient) -> Finding:
    """Every queued mail has an account that could take it."""
    found = await store.lanes_without_sender(patient.conn)
    if not found:
        return sound("sender accounts", "every queued mail has one")
    projects = sorted({each.project for each in found})
    return unsound(
        "sender accounts",
        f"mail is queued in projects without a sender account: {some(projects)}",
        fix=f"add one with `mailqueue sender add --project {projects[0]} …`",
    )


async def held_mail(patient: Patient) -> Finding:
    """No mail waits for a person's decision."""
    held = sum(lane.held for lane in await store.lane_depths(patient.conn))
    if not held:
        return sound("held mail", "none waits for a decision")
    return unsound(
        "held mail",
        f"{plural(held, 'mail')} held until a person decides",
        fix="look with `mailqueue psql -c 'SELECT * FROM mailqueue.held'`, then "
        "`mailqueue email release ID` or `mailqueue email cancel ID`",
    )


async def stopped_senders(patient: Patient) -> Finding:
    """No account was stopped by what its server said, or by its silence."""
    told = [
        f"{s.project}/{s.sender} ({s.status_reason or s.blocked_reason or s.status})"
        for s in await store.senders_today(patient.conn)
        if s.status == "suspended" or s.blocked_reason in ("suspended", "unreachable")
    ]
    if not told:
        return sound("stopped accounts", "no account is suspended or unreachable")
    return unsound(
        "stopped accounts",
        f"suspended or unreachable: {some(told)}",
        fix="try them with `mailqueue sender test NAME`, then `mailqueue sender resume NAME`",
    )


async def credentials(patient: Patient) -> Finding:
    """Stored passwords can be opened."""
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
            fix="set MAILQUEUE_MASTER_KEY to the key they were sealed under, or set them anew "
            "with `mailqueue sender`",
        )
    return sound("credentials", f"{plural(len(sealed), 'stored password')} can be opened")


async def books_add_up(patient: Patient) -> Finding:
    """Every accepted mail is accounted for."""
    faults = books.faults(await books.read(patient.conn))
    if not faults:
        return sound("books", "every accepted mail is accounted for")
    return unsound(
        "books",
        some(faults),
        fix="see `mailqueue verify`; restore the rows from a backup and find who changed them",
    )


async def stale_waiters(patient: Patient) -> Finding:
    """No commit rings for workers that are gone."""
    count = await store.stale_waiters(patient.conn)
    if not count:
        return sound("waiters", "everybody who waits to be rung is there")
    return unsound(
        "waiters",
        f"{plural(count, 'worker')} that are gone still wait to be rung, which slows commits",
        fix="start a worker, which declares silent ones lost, or run DELETE FROM mailqueue.waiters",
    )
