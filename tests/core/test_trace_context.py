"""What is a trace context, and how an email keeps it."""

from typing import Any

import pytest

from mailqueue.core.trace_context import (
    MAX_DATA_BYTES,
    TraceContext,
    context_of,
    only_one,
    parse_traceparent,
    with_traceparent,
)

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
GOOD = f"00-{TRACE}-{SPAN}-01"


@pytest.mark.parametrize(
    ("text", "is_sampled"),
    [
        (GOOD, True),
        (f"00-{TRACE}-{SPAN}-00", False),
        (f"00-{TRACE}-{SPAN}-ff", True),
        (f"01-{TRACE}-{SPAN}-03-more", True),
        (f"fe-{TRACE}-{SPAN}-02", False),
    ],
)
def test_a_context_is_read(text: str, is_sampled: bool) -> None:
    assert parse_traceparent(text) == TraceContext(TRACE, SPAN, is_sampled)


BAD: tuple[object, ...] = (
    "",
    GOOD.upper(),
    f"{GOOD}-more",
    f"{GOOD} ",
    f"{GOOD}\n",
    f"ff-{TRACE}-{SPAN}-01",
    f"00-{'0' * 32}-{SPAN}-01",
    f"00-{TRACE}-{'0' * 16}-01",
    f"00-{TRACE[1:]}-{SPAN}-01",
    f"00-{TRACE}-{SPAN}",
    f"01-{TRACE}-{SPAN}-01-\x00",
    "01-" + TRACE + "-" + SPAN + "-01-" + "x" * 200,
    "\ud800",
    None,
    7,
    [GOOD],
    {"traceparent": GOOD},
)


@pytest.mark.parametrize("text", BAD)
def test_what_is_none_is_ignored(text: object) -> None:
    assert parse_traceparent(text) is None
    assert context_of({"traceparent": text}) is None


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([GOOD], GOOD),
        ([f" {GOOD}\t"], GOOD),
        ([GOOD, GOOD], None),
        ([], None),
        (["nonsense"], None),
    ],
)
def test_a_header_that_stands_twice_or_is_malformed_is_none(
    values: list[str], found: str | None
) -> None:
    assert only_one(values) == found


def test_a_context_is_added_to_the_custom_data() -> None:
    assert with_traceparent({"tags": ["a"]}, GOOD) == {
        "tags": ["a"],
        "custom_data": {"traceparent": GOOD},
    }
    assert with_traceparent({"custom_data": {"order": 7}}, GOOD)["custom_data"] == {
        "order": 7,
        "traceparent": GOOD,
    }


@pytest.mark.parametrize(
    "options",
    [
        {"custom_data": {"traceparent": "the caller's"}},
        {"custom_data": [1]},
        {"custom_data": {}},
        {"custom_data": {"much": "x" * MAX_DATA_BYTES}},
        {"custom_data": {}, "variables": {"much": "x" * MAX_DATA_BYTES}},
        {"custom_data": {"odd": object()}},
    ],
)
def test_what_the_caller_wrote_stays(options: dict[str, Any]) -> None:
    assert with_traceparent(options, GOOD) is options


def test_without_a_context_nothing_is_changed() -> None:
    options = {"custom_data": {"order": 7}}

    assert with_traceparent(options, None) is options
