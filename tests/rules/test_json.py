"""JSON is written by one function, which does not fail on values that were accepted."""

from tests.rules.source import PACKAGE, files

WRITERS = ("core/json/", "core/paging.py", "adapters/", "rendering/", "api/http/docs/")
"""Where orjson is called directly: the writer, and what writes only values of its own making."""


def test_json_is_written_by_one_function() -> None:
    found = [
        name
        for path in files(".py")
        if path.is_relative_to(PACKAGE)
        and not (name := path.relative_to(PACKAGE).as_posix()).startswith(WRITERS)
        and ("orjson.dumps" in (text := path.read_text("utf-8")) or "from orjson" in text)
    ]

    assert found == []
