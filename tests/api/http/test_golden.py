"""The OpenAPI document changes only on purpose."""

from tests.api.http import golden
from tests.api.support.document import DOCUMENT


def test_the_document_is_the_one_that_was_reviewed() -> None:
    expected, found = golden.FILE.read_text("utf-8"), golden.canonical(DOCUMENT)

    changed = golden.difference(expected, found)

    assert not changed, f"if this is meant, run: {golden.UPDATE}\n{changed}"
