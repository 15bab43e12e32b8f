"""Published CSV files with edge cases, and published hostile strings, are imported as they are."""

import base64
import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from mailqueue.contacts.importing import import_contacts
from mailqueue.contacts.model import ContactTally
from mailqueue.db.fetch import Conn
from mailqueue.suppression.lists import reading
from mailqueue.suppression.lists.formula import plain
from tests import make
from tests.api.hostile.corpus import NAUGHTY_STRINGS

pytestmark = pytest.mark.anyio

SPECTRUM: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "payloads" / "csv_spectrum.json").read_text("utf-8")
)["files"]


CONTRADICTORY = {"location_coordinates"}
"""Its published answer has another telephone number than the file."""


@pytest.mark.parametrize("name", sorted(SPECTRUM.keys() - CONTRADICTORY))
def test_every_file_of_csv_spectrum_is_read_as_it_says(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = base64.b64decode(SPECTRUM[name]["csv"])
    header = next(csv.reader(io.StringIO(content.decode())))
    monkeypatch.setattr(reading, "ADDRESS_NAMES", reading._names(header[:1]))

    found = list(reading.read_records(io.BytesIO(content)))

    assert len(found) == len(SPECTRUM[name]["rows"]) > 0
    for (_, values), row in zip(found, SPECTRUM[name]["rows"], strict=True):
        said = {key.lower().replace(" ", "_"): value for key, value in row.items()}
        # The published answers have line ends as `\n`.
        assert isinstance(values, dict)
        assert {key: str(value).replace("\r\n", "\n") for key, value in values.items()} == {
            key: value.replace("\r\n", "\n") for key, value in said.items()
        }


async def test_hostile_strings_are_stored_as_they_are_or_refused_by_line(conn: Conn) -> None:
    project = await make.project_named(conn)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["email", "first_name", "note"])
    for number, string in enumerate(NAUGHTY_STRINGS):
        writer.writerow([f"n{number}@example.com", "Ann", string])
        writer.writerow([f"f{number}@example.com", string, ""])
    tally = ContactTally()

    file = io.BytesIO(text.getvalue().encode())
    await import_contacts(conn, project, file=file, tally=tally)

    stored = dict(
        await make.rows(
            conn, "SELECT email, coalesce(attributes ->> 'note', '') FROM mailqueue.contacts"
        )
    )
    names = dict(await make.rows(conn, "SELECT email, first_name FROM mailqueue.contacts"))
    count = len(NAUGHTY_STRINGS)
    assert tally.added == len(stored)
    assert tally.added + tally.bad == 2 * count
    kept = [n for n in range(count) if f"n{n}@example.com" in stored]
    assert len(kept) > 0.98 * count
    for number in kept:
        # A quote before a formula is taken away, as exports add one.
        written = plain(NAUGHTY_STRINGS[number])
        assert stored[f"n{number}@example.com"] == written
        if (name := names.get(f"f{number}@example.com")) is not None:
            assert name == written
