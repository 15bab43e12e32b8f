"""Mailboxes and times in the formats of other APIs' clients."""

from datetime import UTC, datetime, timedelta

import pytest

from mailqueue.api.compat.mailboxes import format_mailbox, mailbox, split_mailboxes
from mailqueue.api.compat.resend.times import instant_of
from mailqueue.core.errors import InvalidField

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LISTS = {
    "": [],
    " , ": [],
    "a@example.com": ["a@example.com"],
    "a@example.com,b@example.com": ["a@example.com", "b@example.com"],
    "A <a@example.com> , b@example.com": ["A <a@example.com>", "b@example.com"],
    '"Lee, Bo" <b@example.com>, a@example.com': ['"Lee, Bo" <b@example.com>', "a@example.com"],
    r'"a \" , b" <b@example.com>': [r'"a \" , b" <b@example.com>'],
    "=?utf-8?q?J=C3=BCrgen?= <j@example.com>": ["Jürgen <j@example.com>"],
    "Acme Inc. <a@example.com>": ['"Acme Inc." <a@example.com>'],
    "Acme (Test) <a@example.com>": ['"Acme (Test)" <a@example.com>'],
}


@pytest.mark.parametrize("text", LISTS)
def test_lists_of_mailboxes_are_read(text: str) -> None:
    assert split_mailboxes(text) == LISTS[text]


def test_names_that_cannot_be_decoded_stay_as_they_are() -> None:
    assert mailbox("=?x-none?q?a?= <a@example.com>") == "=?x-none?q?a?= <a@example.com>"
    assert mailbox("=?utf-8?b?====?= <a@example.com>") == "a@example.com"
    long = "=?utf-8?q?a" * 1000
    assert mailbox(f"{long} <a@example.com>") == f"{long} <a@example.com>"


def test_a_name_cannot_break_out_of_its_quotes() -> None:
    assert format_mailbox('a" <x@example.org>, "b', "a@example.com") == (
        r'"a\" <x@example.org>, \"b" <a@example.com>'
    )


INSTANTS = {
    "2026-11-20T13:00:00Z": timedelta(hours=1),
    "2026-11-20T13:00:00.500+00:00": timedelta(hours=1, seconds=0.5),
    "2026-11-20 13:00": timedelta(hours=1),
    "2026-11-20T14:00:00+02:00": timedelta(0),
    "in 1 min": timedelta(minutes=1),
    "In 2 Hours": timedelta(hours=2),
    "in an hour": timedelta(hours=1),
    "in 30 days": timedelta(days=30),
    "in 5s": timedelta(seconds=5),
}


@pytest.mark.parametrize("text", INSTANTS)
def test_instants_are_read(text: str) -> None:
    assert instant_of(text, NOW) == NOW + INSTANTS[text]


@pytest.mark.parametrize(
    "text", ["", "soon", "tomorrow at 9am", "in 2 fortnights", "in 31 days", "9999-12-31", "in 1"]
)
def test_other_phrases_are_refused(text: str) -> None:
    with pytest.raises(InvalidField):
        instant_of(text, NOW)
