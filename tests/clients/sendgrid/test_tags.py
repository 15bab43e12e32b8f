"""Substitution tags are replaced in one pass, within bounds."""

import pytest

from mailqueue.api.compat.batch import Budget
from mailqueue.api.compat.sendgrid.tags import Tags
from mailqueue.core.errors import InvalidField


def said(text: str, values: dict[str, str | None], sections: dict[str, str] | None = None) -> str:
    tags = Tags(sections or {}, Budget(10_000))
    return tags.put_in(text, tags.values(values))


@pytest.mark.parametrize(
    ("text", "values", "wanted"),
    [
        ("Hi -name-", {"-name-": "Ann"}, "Hi Ann"),
        ("Hi", {"-name-": "Ann"}, "Hi"),
        ("", {"-name-": "Ann"}, ""),
        ("-a--a--b-", {"-a-": "1", "-b-": None}, "11"),
        ("ab a", {"a": "b", "ab": "c"}, "c b"),
        ("a b", {"a": "b", "b": "a"}, "b a"),
        ("a.b", {".": "\\1"}, "a\\1b"),
        ("(x)", {"(x)": "[y]"}, "[y]"),
    ],
)
def test_every_tag_is_replaced_once(text: str, values: dict[str, str | None], wanted: str) -> None:
    assert said(text, values) == wanted


def test_sections_hold_values_and_values_name_sections() -> None:
    sections = {"-home-": "home, -name-", "-work-": "work"}

    assert said("-where-, -work-", {"-where-": "at -home-", "-name-": "Ann"}, sections) == (
        "at home, Ann, work"
    )
    assert said("-work-", {}, sections) == "work"


def test_too_much_is_refused_before_it_is_made() -> None:
    with pytest.raises(InvalidField):
        said("a" * 101, {"a": "x" * 100})
    tags = Tags({}, Budget(10**9), work=Budget(250))
    tags.put_in("a" * 100, {"a1": ""})
    tags.put_in("a" * 100, {"a2": ""})
    with pytest.raises(InvalidField):
        tags.put_in("a" * 100, {"a3": ""})


def test_what_is_said_to_all_is_looked_at_once() -> None:
    tags = Tags({}, Budget(10**9), work=Budget(1_000))

    found = [tags.put_in("a" * 100, {"a": str(n % 10)}) for n in range(1_000)]

    assert found[7] == "7" * 100
