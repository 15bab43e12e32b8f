"""Reasons as pages show them: times apart from words, and commands apart from both."""

from datetime import UTC, datetime

import pytest

from mailqueue.console.emails.message import attachment_disposition
from mailqueue.console.emails.reasons import ReasonPart, ShellCommand, explained


def test_times_and_commands_are_apart_from_the_words() -> None:
    found = explained(
        "waits until 2026-11-23 05:10:00 UTC: 450 busy; try later; to see its attempts: mailqueue"
        " email show 1; to give it up: mailqueue email cancel 1"
    )

    assert found.parts == [
        ReasonPart("waits until "),
        ReasonPart("2026-11-23 05:10:00 UTC", datetime(2026, 11, 23, 5, 10, tzinfo=UTC)),
        ReasonPart(": 450 busy; try later"),
    ]
    assert found.steps == [
        ShellCommand("to see its attempts", "mailqueue email show 1"),
        ShellCommand("to give it up", "mailqueue email cancel 1"),
    ]
    assert not found.is_in_doubt


@pytest.mark.parametrize(
    "text", ["", "sent", "99-99", "at 2026-13-45 99:99:99 UTC", "; : mailqueue ", "; x: mailqueue"]
)
def test_any_text_is_shown_whole(text: str) -> None:
    found = explained(text)
    shown = "".join(part.text for part in found.parts)
    shown += "".join(f"; {step.label}: {step.command}" for step in found.steps)
    assert shown == text
    assert all(part.at is None for part in found.parts)


def test_an_email_in_doubt_names_the_command_that_resolves_it() -> None:
    found = explained(
        "held until a person decides: x; if it was sent: mailqueue resolve 1 --sent; if it was"
        " not: mailqueue resolve 1 --not-sent"
    )
    assert found.is_in_doubt
    assert len(found.steps) == 2


@pytest.mark.parametrize(
    ("name", "saved"),
    [
        ("bill.pdf", "bill.pdf"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ('a";\r\nX-Evil: 1', "a____X-Evil_ 1"),
        ("\u202egpj.exe", "_gpj.exe"),
        ("...", "file"),
        ("C:\\x.html", "C__x.html"),
    ],
)
def test_the_name_of_a_file_is_safe_to_save(name: str, saved: str) -> None:
    header = attachment_disposition(name)
    assert f'filename="{saved}"' in header
    assert "\r" not in header
    assert "\n" not in header


def test_a_name_in_any_script_is_kept_encoded() -> None:
    header = attachment_disposition("Rechnung März.pdf")
    assert header == (
        "attachment; filename=\"Rechnung M_rz.pdf\"; filename*=UTF-8''Rechnung%20M%C3%A4rz.pdf"
    )


def test_a_status_that_stands_before_the_reason_is_not_in_it() -> None:
    why = "failed at 2030-05-01 09:00:00 UTC: no such user; send again: mailqueue email requeue x"
    reason = explained(why, "failed")

    assert [part.text for part in reason.parts] == [
        *("at ", "2030-05-01 09:00:00 UTC", ": no such user"),
    ]
    assert explained(why, "sent").parts == explained(why).parts
