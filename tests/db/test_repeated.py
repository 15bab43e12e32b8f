"""Parts of SQL files that are repeated for each row of a registry."""

import re
import shutil
from pathlib import Path

import pytest

from mailqueue.core.errors import ConfigError
from mailqueue.core.queues.registry import QUEUES
from mailqueue.db.fetch import Conn
from mailqueue.db.migrations import read_schema
from mailqueue.db.registered import filled
from mailqueue.db.sql import sql_folder

TYPE = """
    SELECT format_type(a.atttypid, a.atttypmod) FROM pg_attribute AS a
     WHERE a.attrelid = format('mailqueue.%%I', %s::text)::regclass AND a.attname = %s
"""


def test_a_part_is_repeated_for_each_queue_with_its_names() -> None:
    text = filled(
        "--% for queue in queues\nSELECT '[[queue.name]]' FROM [[queue.table]];\n--% endfor\n"
    )

    assert text == "".join(f"SELECT '{one.name}' FROM {one.table};\n" for one in QUEUES)


def test_a_part_is_repeated_for_a_list_in_the_file() -> None:
    text = filled(
        '/*% set tables = ["a", "b"] %*/\n--% for t in tables\nANALYZE [[t]];\n--% endfor\n'
    )

    assert text == "ANALYZE a;\nANALYZE b;\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("--% for queue in queues\nANALYZE [[queue.tabel]];\n--% endfor\n", "tabel"),
        ("--% for queue in queues\nANALYZE [[queue.table]];\n", "end of template"),
    ],
)
def test_an_unknown_name_and_a_part_without_an_end_are_refused(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        filled(text)


def test_a_part_that_names_nothing_is_repeated_too() -> None:
    text = "--% for n in [1, 2]\nSELECT 1;\n--% endfor\n--% if false\nSELECT 2;\n--% endif\n"

    assert filled(text) == "SELECT 1;\nSELECT 1;\n"


def test_a_part_that_cannot_be_repeated_names_its_file_and_line(tmp_path: Path) -> None:
    shutil.copytree(sql_folder(), tmp_path / "sql")
    broken = tmp_path / "sql" / "functions" / "broken.sql"
    broken.write_text("SELECT 1;\n--% for\n")

    with pytest.raises(ConfigError, match=r"^functions/broken\.sql: .*line 2"):
        read_schema(tmp_path / "sql")


def test_nothing_of_what_repeats_parts_is_left_in_what_is_applied() -> None:
    applied = read_schema(sql_folder()).objects

    assert [one.path for one in applied if re.search(r"^\s*--%|/\*%|\[\[", one.text, re.M)] == []


@pytest.mark.anyio
async def test_columns_that_an_outcome_writes_have_the_types_of_their_tables(conn: Conn) -> None:
    for spec in QUEUES:
        for name, kind in spec.columns.items():
            row = await (await conn.execute(TYPE, (spec.table, name))).fetchone()
            assert row == (kind,), f"{spec.table}.{name}"
