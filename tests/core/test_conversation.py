"""The record of an attempt: bounded, printable, and valid JSON whatever a server says."""

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from mailqueue.core.conversation import (
    MAX_BODY_BYTES,
    MAX_BYTES,
    MAX_LINE_CHARACTERS,
    ConversationRecord,
    SaidBy,
    SaidLine,
    document_of,
    without_secrets,
)

TEXTS = st.text(max_size=700) | st.text(
    alphabet='"\\\x00\x1b\u202e\ud800<&\u00e9\U0001f600', max_size=700
)
LINES = st.builds(SaidLine, st.integers(0, 10**9), st.sampled_from(SaidBy), TEXTS)


@given(st.lists(LINES, max_size=60), st.none() | st.text(max_size=4_000))
def test_a_record_is_bounded_and_printable_whatever_was_said(
    lines: list[SaidLine], body: str | None
) -> None:
    document = document_of(ConversationRecord("smtp", lines, body))

    assert len(document.encode()) <= MAX_BYTES
    read = json.loads(document)
    kept = [line for line in read["lines"] if "left out" not in line["text"]]
    assert len(kept) <= len(lines)
    for line in read["lines"]:
        assert not {unicodedata.category(one) for one in line["text"]} & {"Cc", "Cs", "Zl", "Zp"}
        assert "\u202e" not in line["text"]
        assert len(line["text"]) <= MAX_LINE_CHARACTERS
    if body is not None:
        assert len(read["body"].encode()) <= MAX_BODY_BYTES


def test_what_is_left_out_is_said_and_the_end_is_kept() -> None:
    lines = [SaidLine(n, SaidBy.SERVER, f"250-line {n} " + "x" * 80) for n in range(300)]

    read = json.loads(document_of(ConversationRecord("smtp", lines)))["lines"]

    assert read[0]["text"].startswith("250-line 0 ")
    assert read[-1]["text"].startswith("250-line 299 ")
    [note] = [line for line in read if line["by"] == "note"]
    assert note["text"] == f"({300 - len(read) + 1} lines are left out)"
    long = json.loads(
        document_of(ConversationRecord("smtp", [SaidLine(0, SaidBy.SERVER, "y" * 9_000)]))
    )
    assert long["lines"][0]["text"].endswith("yyy … (cut)")


def test_secrets_are_removed_from_texts_and_never_break_the_document() -> None:
    record = ConversationRecord("smtp", [SaidLine(3, SaidBy.SERVER, '535 "lines" no')], "ms lines")

    read = json.loads(without_secrets(document_of(record), ["lines", '"', "smtp", "ms"]))

    assert read == {
        "protocol": "smtp",
        "lines": [{"ms": 3, "by": "server", "text": "535 ********* no"}],
        "body": "*** ***",
    }
