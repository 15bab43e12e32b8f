"""A table whose rows are deleted after some days is added in two files beside tests and docs."""

from tests.adding.copied import Copy

MAX_FILES = 3
MIGRATION = """\
-- {file}
-- Adds:    sign_ins, who opened the pages of a project from where
-- Running workers: not affected
-- Locks:   none

CREATE TABLE mailqueue.sign_ins (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id   uuid        NOT NULL REFERENCES mailqueue.projects (id),
    person       text        NOT NULL,
    signed_in_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sign_ins_age_idx ON mailqueue.sign_ins (signed_in_at);
COMMENT ON TABLE mailqueue.sign_ins IS 'Who opened the pages of a project, and when.';
COMMENT ON COLUMN mailqueue.sign_ins.id IS 'Id of the sign-in.';
COMMENT ON COLUMN mailqueue.sign_ins.person IS 'Who opened the pages.';
COMMENT ON COLUMN mailqueue.sign_ins.signed_in_at IS 'When.';
"""
ROW = """\
    Retained(
        "sign_ins",
        "sign_ins",
        "signed_in_at",
        Removal.SWEPT,
        days=90,
        privacy=Privacy.DELETE,
    ),
"""
TEST = '''\
"""Sign-ins leave after their days, by project, and with the person."""

import pytest

from mailqueue.maintenance import retention
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.operations.store.health import kinds_past_retention
from tests import make

pytestmark = pytest.mark.anyio

OTHERS = "SELECT p.name, s.person FROM mailqueue.sign_ins AS s JOIN mailqueue.projects AS p"
LEFT = OTHERS + " ON p.id = s.project_id ORDER BY 1, 2"


async def test_sign_ins_leave_after_their_days(desk: MaintenanceContext) -> None:
    await desk.conn.execute("SELECT mailqueue.add_project('shop', 'test', '{}')")
    await desk.conn.execute(
        "SELECT * FROM mailqueue.change_retention('shop', 'sign_ins', 10, NULL, 10, 'test')"
    )
    for days in (5, 20, 100):
        await desk.conn.execute(
            "INSERT INTO mailqueue.sign_ins (project_id, person, signed_in_at)"
            " SELECT p.id, %s, now() - make_interval(days => %s) FROM mailqueue.projects AS p"
            " WHERE p.name IN ('default', 'shop')",
            (f"{days} days", days),
        )

    late = await kinds_past_retention(desk.conn, days=7, pages=100)
    assert [one.kind for one in late] == ["sign_ins"]
    report = await retention.run(desk)

    assert report.counts["sign_ins"] == 3
    assert await make.rows(desk.conn, LEFT) == [
        ("default", "20 days"),
        ("default", "5 days"),
        ("shop", "5 days"),
    ]
    action = "SELECT mailqueue.privacy_action('sign_ins')"
    assert await make.scalar(desk.conn, action) == "delete"
'''


def test_a_table_with_retention_is_added_in_two_files(copy: Copy) -> None:
    file = f"{copy.next_migration():04}_sign_ins.sql"

    copy.add(f"sql/migrations/{file}", MIGRATION.format(file=file))
    copy.insert("mailqueue/core/retained.py", ROW, before='of_month("send_logs"')
    copy.add("tests/maintenance/test_sign_ins.py", TEST)
    copy.insert(
        "tests/rules/privileges.txt", "table sign_ins\n", before="table slack_installations"
    )
    copy.insert(
        "tests/rules/privileges.txt",
        "sequence sign_ins_id_seq\n",
        before="sequence stats_corrections",
    )
    copy.insert("docs/maintenance.md", "| `sign_ins` | 90 | | 90 |\n", before="| `limit_days`")
    copy.insert("docs/dba-guide.md", "| `sign_ins` | who signed in |\n", before="| `lanes` |")

    assert len(copy.changed) <= MAX_FILES, copy.changed
    copy.pytest(
        *("tests/maintenance/test_sign_ins.py", "tests/docs/test_tables.py"),
        *("tests/rules/test_schema.py", "tests/rules/test_tenancy.py"),
        *("tests/rules/test_privileges.py", "tests/rules/test_locks.py"),
    )
