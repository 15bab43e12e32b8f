from pathlib import Path

import pytest
from psycopg import sql

from mailqueue.db.sql import ManyRows, NoRows, RowCount, Statement, StatementError, read_statements
from mailqueue.db.statements import schema as schema_sql


def folder_with(tmp_path: Path, text: str) -> Path:
    (tmp_path / "mail.sql").write_text(text)
    return tmp_path


def test_a_statement_is_found_by_name_without_its_comments_and_semicolon(tmp_path: Path) -> None:
    text = "-- Mail.\n\n-- name: count_mail :value\n-- 100 % of it.\nSELECT 1\n-- why: 5 %\n;\n"

    found = read_statements(folder_with(tmp_path, text))["count_mail"]

    assert found.query == b"SELECT 1"
    assert found.gives is RowCount.VALUE


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("SELECT 1;", "mail.sql:1: text before the first"),
        ("-- name: Count :one\n-- All.\nSELECT 1", "mail.sql:1: write `-- name: verb_noun`"),
        ("-- name: count :some\n-- All.\nSELECT 1", "one of :one :maybe :many :value :run"),
        ("-- name: count\n-- All.\nSELECT 1", "mail.sql:1: write"),
        ("\n-- name: count :one\nSELECT 1", "mail.sql:2: count has no comment"),
        ("-- name: count :one\n-- All.\n;", "mail.sql:1: count is empty"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(StatementError, match=complaint):
        read_statements(folder_with(tmp_path, text))


def test_a_name_is_used_once_in_all_files(tmp_path: Path) -> None:
    statement = "-- name: count :one\n-- All.\nSELECT 1"
    (tmp_path / "people.sql").write_text(statement)

    with pytest.raises(StatementError, match=r"people\.sql:1: count is already taken"):
        read_statements(folder_with(tmp_path, statement))


def test_slots_are_filled_with_quoted_names(tmp_path: Path) -> None:
    text = "-- name: count :value\n-- All.\nSELECT count(*), '{{}}' FROM {table}"

    found = read_statements(folder_with(tmp_path, text))["count"]
    filled = found.format(table=sql.Identifier("mail", 'a"b'))

    assert filled.query == b"""SELECT count(*), '{}' FROM "mail"."a""b\""""


def test_the_product_brings_its_statements() -> None:
    assert schema_sql.RECORD_MIGRATION.gives is RowCount.RUN


@pytest.mark.parametrize(("kind", "name"), [(ManyRows, "record_migration"), (NoRows, "recorded")])
def test_a_statement_without_that_name_and_kind_is_refused(
    kind: type[Statement], name: str
) -> None:
    with pytest.raises(StatementError, match=f"no `-- name: {name} :{kind.gives}`"):
        kind.named(name)
