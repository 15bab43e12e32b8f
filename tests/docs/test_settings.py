"""The documentation lists every setting with its default, and no others."""

import re

from mailqueue.core.crashpoints import VARIABLE as CRASH_POINT
from mailqueue.settings.environment import Environment
from tests.docs.reading import column, pages, text_of

VARIABLES = {f"MAILQUEUE_{name.upper()}" for name in Environment.model_fields}
OF_THE_TESTS = {"MAILQUEUE_TEST_DSN", CRASH_POINT}
_PAGE, _HEADING = "docs/operating.md", "Settings"


def named() -> set[str]:
    return {
        found for page in pages() for found in re.findall(r"\bMAILQUEUE_[A-Z_]+", text_of(page))
    }


def test_every_variable_named_is_a_setting() -> None:
    assert named() - VARIABLES - OF_THE_TESTS == set()


def test_every_setting_stands_in_the_table() -> None:
    assert sorted(column(_PAGE, under=_HEADING)) == sorted(VARIABLES)


def test_every_default_in_the_table_is_the_real_one() -> None:
    told = dict(
        zip(
            column(_PAGE, under=_HEADING),
            column(_PAGE, under=_HEADING, place=1),
            strict=True,
        )
    )
    fixed = {
        f"MAILQUEUE_{name.upper()}": _as_given(field.default)
        for name, field in Environment.model_fields.items()
        if field.default_factory is None
    }

    assert {name: told[name] for name in fixed} == fixed


def _as_given(default: object) -> str:
    if default in (None, ()):
        return "none"
    return str(default).lower()
