"""`mailqueue ab-test`: tests of variants of one email."""

import json
from typing import Any, TextIO
from uuid import UUID

import click

from mailqueue.analytics.ab_tests import requests
from mailqueue.cli.support.actor import operator
from mailqueue.cli.support.answer import (
    execute,
    json_option,
    print_facts,
    print_message,
    print_rows,
)
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.groups import CommandGroup
from mailqueue.cli.support.output import Column, examples
from mailqueue.cli.support.shared_options import limit_option, project_option
from mailqueue.contract.automation.ab_tests import (
    AbTest,
    AbTestRecipient,
    AbTestSummary,
    AbTestVariant,
)
from mailqueue.projects import manage

MAX_ROWS = 1000
"""Tests that one command lists."""
PART = 1000
"""Recipients of one transaction."""
_ID = "019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11"
_TESTS = (
    Column("id", "ID"),
    Column("project", "PROJECT"),
    Column("name", "NAME"),
    Column("metric", "METRIC"),
    Column("state", "STATE"),
    Column("result", "RESULT"),
    Column("winner", "WINNER"),
    Column("evaluates_at", "EVALUATED"),
)
_RECIPIENTS = (
    Column("index", "NO.", numeric=True),
    Column("status", "STATUS"),
    Column("variant", "VARIANT"),
    Column("id", "EMAIL"),
    Column("reason", "REASON"),
)


@click.group(
    "ab-test",
    cls=CommandGroup,
    epilog=examples(
        "mailqueue ab-test create spring.json --project shop",
        f"mailqueue ab-test send {_ID} recipients.json",
        f"mailqueue ab-test show {_ID}",
    ),
)
def ab_test() -> None:
    """Compare two to four variants of one email.

    A worker of the queue `ab-tests` evaluates a test once, and sends the winner to those who wait.
    """


@ab_test.command(epilog=examples("mailqueue ab-test create spring.json --project shop"))
@click.argument("file", type=click.File("r", encoding="utf-8"))
@project_option
@json_option
def create(*, file: TextIO, project: str) -> None:
    """Create a test from a JSON file; `-` is standard input.

    Its fields are those of the SQL function create_ab_test: name, variants, subject, html, text,
    template, metric, alpha, evaluate_after_hours, min_sample, sample_percent, if_none and options.
    """
    wanted = _read(file)
    if not isinstance(wanted, dict):
        raise click.BadParameter("an object is needed", param_hint="FILE")

    async def created(app: Opened) -> AbTest:
        async with app.conn.transaction():
            return await requests.create(app.conn, project, wanted, by=operator())

    found = execute(created)
    print_message(found, f"A/B test {found.id} is created; it begins with its first recipient")


@ab_test.command(epilog=examples(f"mailqueue ab-test send {_ID} recipients.json"))
@click.argument("test_id", metavar="ID", type=click.UUID)
@click.argument("file", type=click.File("r", encoding="utf-8"))
@json_option
def send(*, test_id: UUID, file: TextIO) -> None:
    """Send a test to the recipients in a JSON file; `-` is standard input.

    The file has a list of addresses, or of objects with recipient, name, variables, language and
    custom_data. A recipient gets one email of a test, however often it is sent.
    """
    people = _read(file)
    if not isinstance(people, list):
        raise click.BadParameter("a list is needed", param_hint="FILE")
    people = [{"recipient": one} if isinstance(one, str) else one for one in people]

    async def added(app: Opened) -> list[AbTestRecipient]:
        project = (await requests.find(app.conn, None, test_id)).project
        rows: list[AbTestRecipient] = []
        for first in range(0, max(1, len(people)), PART):
            async with app.conn.transaction():
                rows += await requests.add(app.conn, project, test_id, people[first : first + PART])
        return rows

    print_rows(execute(added), _RECIPIENTS, nothing="no recipients")


@ab_test.command("list", epilog=examples("mailqueue ab-test list --project shop --json"))
@click.option("--project", help="Only tests of this project.")
@limit_option(MAX_ROWS, of="tests")
@json_option
def list_(*, project: str | None, limit: int) -> None:
    """List tests, newest first."""

    async def listed(app: Opened) -> list[AbTestSummary]:
        project_id = None if project is None else (await manage.find(app.conn, project)).id
        return await requests.page(app.conn, project_id, limit=limit)

    print_rows(execute(listed), _TESTS, nothing="no tests")


@ab_test.command(epilog=examples(f"mailqueue ab-test show {_ID} --json"))
@click.argument("test_id", metavar="ID", type=click.UUID)
@json_option
def show(*, test_id: UUID) -> None:
    """Show a test with the counts of its variants."""
    found = execute(lambda app: requests.find(app.conn, None, test_id))
    pairs: tuple[tuple[str, Any], ...] = (
        ("id", found.id),
        ("project", found.project),
        ("name", found.name),
        ("state", found.state),
        ("result", found.result),
        ("winner", found.winner),
        ("metric", found.metric),
        ("alpha", found.alpha),
        ("least sample", found.min_sample),
        ("sample percent", found.sample_percent),
        ("without a winner", found.if_none),
        ("recipients", found.recipients),
        ("waiting", found.waiting),
        *((f"variant {one.name}", _counts(one)) for one in found.variants),
        ("begun", found.started_at),
        ("evaluated", found.evaluates_at),
        ("decided", found.decided_at),
        ("decided by", found.decided_by),
        ("cancelled by", found.cancelled_by),
        ("last error", found.error),
    )
    print_facts(found, [(name, value) for name, value in pairs if value is not None])


@ab_test.command(epilog=examples(f"mailqueue ab-test decide {_ID} A"))
@click.argument("test_id", metavar="ID", type=click.UUID)
@click.argument("variant")
@json_option
def decide(*, test_id: UUID, variant: str) -> None:
    """Make a variant the winner before the evaluation; those who wait get it."""

    async def decided(app: Opened) -> AbTest:
        project_id = await _project_of(app, test_id)
        async with app.conn.transaction():
            return await requests.decide(
                app.conn, project_id, test_id, variant=variant, by=operator()
            )

    found = execute(decided)
    print_message(found, f"the winner of A/B test {found.id} is {found.winner}")


@ab_test.command(epilog=examples(f"mailqueue ab-test cancel {_ID}"))
@click.argument("test_id", metavar="ID", type=click.UUID)
@json_option
def cancel(*, test_id: UUID) -> None:
    """Cancel a test: those who wait get no email."""

    async def cancelled(app: Opened) -> AbTest:
        project_id = await _project_of(app, test_id)
        async with app.conn.transaction():
            return await requests.cancel(app.conn, project_id, test_id, by=operator())

    found = execute(cancelled)
    print_message(found, f"A/B test {found.id} is cancelled")


async def _project_of(app: Opened, test_id: UUID) -> UUID:
    found = await requests.find(app.conn, None, test_id)
    return (await manage.find(app.conn, found.project)).id


def _counts(one: AbTestVariant) -> str:
    compared = "" if one.p_value is None else f", p-value {one.p_value:.4g}"
    return f"{one.sent} sent, {one.opened} opened, {one.clicked} clicked{compared}"


def _read(file: TextIO) -> Any:
    """Return the value of a JSON file.

    Raises:
        BadParameter: it is not JSON.
    """
    try:
        return json.load(file)
    except ValueError as exc:
        raise click.BadParameter(f"not JSON: {exc}", param_hint="FILE") from exc
