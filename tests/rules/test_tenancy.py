"""Row-level security protects every table that the API can read."""

import pytest

from mailqueue.db.fetch import Conn
from tests import make

pytestmark = pytest.mark.anyio

# Services COPY into it, which no policy allows; the API reads it by views and functions only.
WITHOUT_POLICY = {"email_queue"}
# Rows of no project: the API may ask these, and what it may ask says who may know it.
OF_NOBODY = {
    "schema_migrations",
    "schema_objects",
    "trap_messages",  # behind a password of their own
}
TABLES = """
    SELECT c.relname::text, c.relrowsecurity,
           ARRAY(SELECT y.polname::text FROM pg_policy AS y WHERE y.polrelid = c.oid ORDER BY 1)
    FROM pg_class AS c
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND NOT a.attisdropped
     AND a.attname = CASE c.relname WHEN 'projects' THEN 'id' ELSE 'project_id' END
    WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind IN ('r', 'p')
      AND NOT c.relispartition
"""
READ_BY_THE_API = """
    SELECT c.relname::text, c.relkind::text, c.relrowsecurity, pg_get_viewdef(c.oid)
    FROM pg_class AS c
    WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind IN ('r', 'p', 'v')
      AND NOT c.relispartition
      AND has_any_column_privilege('mailqueue_api', c.oid, 'SELECT')
"""
# These functions act for a named project with the owner's rights, for every role that may run them.
ASKED_BY_THE_API = """
    SELECT p.proname::text, p.prosrc
    FROM pg_proc AS p
    WHERE p.pronamespace = 'mailqueue'::regnamespace AND p.prosecdef
      AND has_function_privilege('mailqueue_api', p.oid, 'EXECUTE')
      AND 'p_project' = ANY (p.proargnames)
      AND p.proargtypes[array_position(p.proargnames, 'p_project') - 1] = 'uuid'::regtype
"""


async def test_every_table_of_projects_has_both_policies(conn: Conn) -> None:
    found = {row[0]: (row[1], row[2]) for row in await make.rows(conn, TABLES)}

    assert found.pop("email_queue") == (False, [])
    others = {
        name: [each for each in known if each != "mode"] for name, (_, known) in found.items()
    }
    assert {name: known for name, known in others.items() if known != ["everyone", "tenant"]} == {}
    assert all(is_on for is_on, _ in found.values())
    assert len(found) > 20


async def test_tables_of_what_has_a_mode_hide_live_rows_from_test_keys(conn: Conn) -> None:
    found = {row[0]: row[2] for row in await make.rows(conn, TABLES)}

    assert {name for name, known in found.items() if "mode" in known} == {
        "ab_tests",
        "api_keys",
        "attachments",
        "batches",
        "bulk_operations",
        "contact_lists",
        "contacts",
        "email_events",
        "email_history",
        "email_recipients",
        "enrollment_exits",
        "enrollment_steps",
        "exports",
        "imports",
        "inbox_actions",
        "inbox_state",
        "list_sends",
        "schedule_runs",
        "schedules",
        "send_logs",
        "timed_events",
        "sequence_enrollments",
        "sequence_events",
        "event_stream",
        "stats_corrections",
        "stats_latency",
        "stats_minutes",
        "stats_quarters",
        "stats_values",
        "webhook_deliveries",
        "webhook_events",
    }


async def test_what_the_api_reads_is_behind_a_policy_or_asks_for_itself(conn: Conn) -> None:
    bare = []
    for name, kind, has_policies, text in await make.rows(conn, READ_BY_THE_API):
        asks = kind == "v" and ("sees_all" in text or "mailqueue.emails" in text)
        if not (has_policies or asks or name in OF_NOBODY or name in ABOUT_NOBODY):
            bare.append(name)

    assert bare == []


ABOUT_NOBODY = {
    "worker_status",  # processes
    "health",  # the installation; for administrators
    "template_versions",  # found by their template's id, which a policy hides
    "template_texts",
}


async def test_functions_of_a_project_refuse_another_tenants(conn: Conn) -> None:
    trusting = [
        name
        for name, body in await make.rows(conn, ASKED_BY_THE_API)
        if "check_tenant(p_project)" not in body and "mailqueue.tenant()" not in body
    ]

    assert trusting == [], " ".join(map(str, trusting))
