"""The folders of mailqueue/mail have an order, and one module accepts mail."""

import ast
from collections.abc import Iterable

import pytest

from tests.rules.source import Import, all_imports, imports_of, modules

MAIL = ("message", "accept", "send", "custom_smtp")
"""The folders of mailqueue/mail, lower first: a folder imports those before it."""


def uphill_in_mail(found: Iterable[Import]) -> list[str]:
    """Return imports by which a folder of mailqueue/mail depends on a higher one."""
    return [
        f"{each.where} imports {each.imported}"
        for each in found
        if (of := _folder_in_mail(each.module)) is not None
        and (imported := _folder_in_mail(each.imported)) is not None
        and imported > of
    ]


def _folder_in_mail(module: str) -> int | None:
    if not module.startswith("mailqueue.mail."):
        return None
    folder = module.split(".")[2]
    return MAIL.index(folder) if folder in MAIL else None


def outcomes(module: str, tree: ast.Module) -> list[str]:
    """Return imports of outcomes of sending in a module that builds messages."""
    if not module.startswith("mailqueue.mail.message."):
        return []
    return [
        f"{module}:{node.lineno} imports {alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if "Outcome" in alias.name or alias.name in ("Ending", "LogStatus")
    ]


ACCEPTING = {
    "mailqueue.mail.accept.batches": {"enqueue_shared"},
    "mailqueue.mail.accept.enqueue": {"enqueue_batch"},
    "mailqueue.mail.accept.raw": {"accept_prepared"},
}
"""What accepts mail in Python, below mailqueue.mail.accept.acceptance."""


def bypasses(module: str, tree: ast.Module) -> list[str]:
    """Return the imports by which a module outside mail.accept bypasses acceptance."""
    if module.startswith("mailqueue.mail.accept."):
        return []
    return [
        f"{module}:{node.lineno} imports {alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in ACCEPTING.get(node.module or "", ())
        or f"{node.module}.{alias.name}" in ACCEPTING
    ]


def test_building_knows_nothing_of_accepting_and_sending_nothing_of_sending_now() -> None:
    assert uphill_in_mail(all_imports()) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("mailqueue.mail.message.x", "import mailqueue.mail.accept.store.enqueue"),
        ("mailqueue.mail.send.x", "from mailqueue.mail.custom_smtp.queued import y"),
    ],
)
def test_an_import_uphill_is_found(module: str, source: str) -> None:
    known = frozenset({"mailqueue.mail.custom_smtp.queued", "mailqueue.mail.accept.store.enqueue"})

    assert len(uphill_in_mail(imports_of(module, ast.parse(source), known))) == 1


def test_building_a_message_knows_no_outcome_of_a_send() -> None:
    assert [each for name, tree in modules().items() for each in outcomes(name, tree)] == []
    source = ast.parse("from mailqueue.mail.model import LoadedEmail, SendOutcome")
    assert len(outcomes("mailqueue.mail.message.x", source)) == 1


def test_every_way_in_accepts_mail_by_one_module() -> None:
    found = [each for name, tree in modules().items() for each in bypasses(name, tree)]

    assert found == []


def test_a_way_round_it_is_found() -> None:
    around = "from mailqueue.mail.accept.enqueue import NewEmail, enqueue_batch"
    whole = "from mailqueue.mail.accept import batches"

    assert len(bypasses("mailqueue.cli.x", ast.parse(around))) == 1
    assert len(bypasses("mailqueue.cli.x", ast.parse(whole))) == 1
