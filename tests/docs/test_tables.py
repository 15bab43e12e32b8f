"""Tables in the documentation list all that exists, and nothing else."""

import re

import pytest

import mailqueue
from mailqueue.core.providers import PROVIDERS
from mailqueue.core.retained import RETAINED
from mailqueue.db.fetch import Conn
from mailqueue.db.roles import ROLES
from mailqueue.senders.presets import PRESETS
from mailqueue.trap.simulator import BEHAVIOUR_BY_NAME, SIMULATOR_DOMAIN
from tests import make
from tests.docs.reading import column, names_in, pages, text_of
from tests.rules.source import ROOT

pytestmark = pytest.mark.anyio

_RELATIONS = """
SELECT relname FROM pg_class
 WHERE relnamespace = 'mailqueue'::regnamespace AND relkind = ANY (%s) AND NOT relispartition
"""
_OPTIONS = "SELECT pg_get_functiondef('mailqueue.email_from_options'::regproc)"
_OF_FUNCTION_ONLY = {"to"}
_CHECK = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = ANY (%s)"


async def relations(conn: Conn, kinds: str) -> list[str]:
    return sorted(row[0] for row in await make.rows(conn, _RELATIONS, list(kinds)))


async def test_the_dba_guide_lists_every_view(conn: Conn) -> None:
    assert sorted(column("docs/dba-guide.md", under="Views")) == await relations(conn, "v")


async def test_the_dba_guide_lists_every_table(conn: Conn) -> None:
    assert sorted(column("docs/dba-guide.md", under="Tables")) == await relations(conn, "rp")


async def test_the_table_of_options_is_complete(conn: Conn) -> None:
    definition = await make.scalar(conn, _OPTIONS)
    taken = re.findall(r"WHEN '(\w+)' THEN\s+(?:q\.|IF)", definition)

    told = column("docs/sending.md", under="Options")

    assert sorted(told) == sorted({*taken, "priority"})


async def test_every_option_is_a_column_too_under_its_name(conn: Conn) -> None:
    query = (
        "SELECT attname::text FROM pg_attribute WHERE attrelid = 'mailqueue.email_queue'::regclass"
    )
    columns = {row[0] for row in await make.rows(conn, query)}

    assert set(column("docs/sending.md", under="Options")) - columns == _OF_FUNCTION_ONLY


@pytest.mark.parametrize("page", ["README.md", "docs/operating.md"])
async def test_the_simulator_addresses_are_the_real_ones(page: str) -> None:
    real = [f"{name}@{SIMULATOR_DOMAIN}" for name in BEHAVIOUR_BY_NAME]

    assert sorted(column(page, under="Simulator addresses")) == sorted(real)


async def words_allowed(conn: Conn, *constraints: str) -> set[str]:
    """Return the values that CHECK constraints of these names allow."""
    found = await make.rows(conn, _CHECK, list(constraints))
    return {word for row in found for word in re.findall(r"'(\w+)'::text", row[0])}


async def test_every_status_of_a_mail_is_explained(conn: Conn) -> None:
    real = await words_allowed(conn, "email_queue_status_check", "email_history_status_check")

    assert set(column("docs/sending.md", under="What becomes of a mail")) == real


async def test_every_reason_a_lane_stands_is_explained(conn: Conn) -> None:
    real = await words_allowed(conn, "lanes_reason_check") | {"brake"}  # of all lanes at once

    assert {*names_in("docs/dba-guide.md", under="Words for what blocks")} == real


async def test_every_role_is_explained() -> None:
    assert tuple(column("docs/operating.md", under="Roles")) == ROLES


async def test_the_presets_are_the_real_ones() -> None:
    assert column("docs/operating.md", under="Presets") == list(PRESETS)


async def test_the_tables_of_providers_list_every_provider() -> None:
    with_api = sorted(one.value for one in PROVIDERS if one.has_api)

    assert sorted(column("docs/providers.md", under="Settings of each provider")) == with_api
    assert sorted(column("docs/providers.md", under="How mail is sent")) == with_api
    assert sorted(column("docs/providers.md", under="Limits of messages")) == with_api


async def test_every_setting_of_a_provider_is_told() -> None:
    page = text_of(ROOT / "docs" / "providers.md")

    for one in PROVIDERS:
        assert [
            name
            for name in one.facts.settings
            if f"{name}=" not in page and f"`{name}`" not in page
        ] == []


async def test_the_database_knows_the_providers(conn: Conn) -> None:
    known = await make.rows(
        conn, "SELECT name, label, has_api, sends_events FROM mailqueue.providers"
    )

    assert sorted(known) == sorted(
        (one.value, one.facts.label, one.has_api, one.facts.sends_events) for one in PROVIDERS
    )


async def test_every_kind_that_is_deleted_after_some_days_is_told() -> None:
    told = column("docs/maintenance.md", under="Retention")

    assert sorted(told) == sorted(one.kind for one in RETAINED)


async def test_the_database_knows_the_kinds_and_has_a_rule_for_each(conn: Conn) -> None:
    known = await make.rows(
        conn,
        "SELECT k.kind, k.table_name, k.time_column, k.else_column, k.ended_column, k.kept_while,"
        " k.is_global, r.hot_days"
        " FROM mailqueue.retained_kinds AS k JOIN mailqueue.retention_rules AS r"
        " ON r.kind = k.kind AND r.project_id IS NULL",
    )

    assert {row[0]: row[1:] for row in known} == {
        one.kind: (
            *(one.table, one.time_column, one.else_column, one.ended_column, one.kept_while),
            *(one.is_global, one.days),
        )
        for one in RETAINED
    }


async def test_every_table_and_column_of_a_kind_exists(conn: Conn) -> None:
    columns = await make.rows(
        conn,
        "SELECT c.relname::text, a.attname::text FROM pg_attribute AS a"
        " JOIN pg_class AS c ON c.oid = a.attrelid"
        " WHERE c.relnamespace = 'mailqueue'::regnamespace",
    )

    for one in RETAINED:
        for name in filter(None, (one.time_column, one.else_column, one.ended_column)):
            assert (one.table, name) in columns


async def test_every_name_in_the_schema_that_is_mentioned_exists(conn: Conn) -> None:
    query = (
        "SELECT relname::text FROM pg_class WHERE relnamespace = 'mailqueue'::regnamespace UNION"
        " SELECT proname::text FROM pg_proc WHERE pronamespace = 'mailqueue'::regnamespace"
    )
    known = {row[0] for row in await make.rows(conn, query)}
    known |= {path.stem for path in (ROOT / "mailqueue").iterdir()}
    known |= {"default", "example"}  # a host name, a folder
    known |= {"git", "env", "conf", "sh", "yml"}  # ends of files
    known |= {"by_hand", "project"}  # settings
    known |= {name for name in mailqueue.__all__ if name.islower()}  # of Python

    named = {
        name for page in pages() for name in re.findall(r"\bmailqueue\.([a-z_]+)", text_of(page))
    }

    assert named - known == set()
