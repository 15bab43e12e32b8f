"""A queue is added in four files; it is killed, explained, watched and swept from its first day."""

from pathlib import Path

import pytest

from tests.adding.copied import Copy
from tests.queue.kernel.child import WAYS

HERE = Path(__file__).parent / "queue"
MAX_FILES = 5
NAME, TABLE = "suppression-requests", "suppression_requests"
END_OF_QUEUES = ")\n\n\nUPKEEP = ("
SPEC = f"""\
    QueueSpec(
        name="{NAME}",
        table="{TABLE}",
        work="addresses to suppress at a time",
        done="done",
        handler="mailqueue.suppression.handler:request_handler",
        lease=timedelta(minutes=1),
        backoff=Backoff(timedelta(seconds=30), timedelta(hours=1)),
        columns={{"outcome": "text"}},
    ),
"""
RETENTION = f"""\
    Retained(
        "{TABLE}",
        "{TABLE}",
        "created_at",
        Removal.SWEPT,
        days=30,
        ended_column="finished_at",
        privacy=Privacy.DELETE,
    ),
"""
RIGHTS = {
    f"function claim_{TABLE}(p_worker integer, p_limit integer, p_lease interval, p_alone boolean,"
    " p_first integer, p_keys text[], p_rooms integer[]) as owner": "function claim_suspect(",
    f"function give_back_{TABLE}(p_ids uuid[])": "function give_back_timed",
    f"function release_{TABLE}(p_worker integer, p_held uuid[]) as owner": "function release_timed",
    f"function renew_{TABLE}(p_ids uuid[], p_claims bigint[], p_lease interval) as"
    " owner": "function renew_timed",
    f"function requeue_{TABLE}(p_project uuid, p_ids uuid[], p_by text) as"
    " owner": "function requeue_timed",
    f"function return_{TABLE}(p_worker integer)": "function return_timed",
    f"function settle_{TABLE}(p_ids uuid[], p_claims bigint[], p_outcomes text[], p_statuses"
    " text[], p_waits interval[], p_runs timestamp with time zone[], p_reasons text[], p_values"
    " jsonb) as owner": "function settle_timed",
    f"function suspect_{TABLE}(p_ids uuid[], p_claims bigint[], p_alone boolean, p_reason text)"
    " as owner": "function suspect_timed",
    f"table {TABLE}": "table suppressions",
}
"""Lines of `privileges.txt`, each before the line that begins with the other text."""
FOR_WORKERS = ("claim", "release", "renew", "settle", "suspect")
"""Functions that workers may run."""
KIND = """\
@asynccontextmanager
async def suppression_requests(conn: Conn, count: int) -> AsyncIterator[Rows]:
    '''Ask for suppressions, each of which is written exactly once.'''
    await conn.execute(
        "INSERT INTO mailqueue.suppression_requests (project_id, address)"
        " SELECT %s, format('person%%s@example.com', n) FROM generate_series(1, %s) AS n",
        (await make.project_named(conn), count),
    )

    async def check(_doubtful: int) -> None:
        written = await make.rows(
            conn,
            "SELECT r.outcome, s.source, count(*) OVER (PARTITION BY s.address)"
            " FROM mailqueue.suppression_requests AS r"
            " LEFT JOIN mailqueue.suppressions AS s USING (project_id, address)",
        )
        assert written == [("added", "suppression request", 1)] * count

    spec = queue_named("suppression-requests")
    yield Rows(spec, await ids_of(conn, spec), check, DONE)
"""


@pytest.fixture
def copy(copy: Copy) -> Copy:
    """Return a copy of the checkout with the queue."""
    file = f"{copy.next_migration():04}_{TABLE}.sql"
    copy.add(f"sql/migrations/{file}", text("migration.sql").format(file=file))
    copy.replace("mailqueue/core/queues/registry.py", END_OF_QUEUES, SPEC + END_OF_QUEUES)
    copy.add("mailqueue/suppression/handler.py", text("handler.py"))
    copy.insert("mailqueue/core/retained.py", RETENTION, before='of_month("send_logs"')

    kinds = "tests/queue/kernel/kinds.py"
    copy.insert(kinds, KIND, before="KINDS: Mapping")
    copy.insert(kinds, f'    "{NAME}": {TABLE},\n', before='"custom-smtp"')
    copy.add("tests/maintenance/test_requests.py", text("requests.py"))
    plain = f'    "{TABLE}": {{"address": "\'person{{n}}@example.com\'"}},\n'
    copy.insert("tests/queue/extremes/plain.py", plain, before='"tracked_links"')
    for line, before in RIGHTS.items():
        given = "    mailqueue_worker: EXECUTE\n" if line.split()[1].startswith(FOR_WORKERS) else ""
        copy.insert("tests/rules/privileges.txt", f"{line}\n{given}", before=before)
    copy.insert("docs/maintenance.md", f"| `{TABLE}` | 30 | | 30 |\n", before="| `limit_days`")
    copy.insert("docs/dba-guide.md", f"| `{TABLE}` | asked for |\n", before="| `lanes` |")
    return copy


def text(name: str) -> str:
    return (HERE / name).read_text("utf-8")


def test_a_queue_is_added_in_five_files_and_keeps_the_rules(copy: Copy) -> None:
    assert len(copy.changed) <= MAX_FILES, copy.changed
    copy.pytest(
        *("tests/maintenance/test_requests.py", "tests/docs/test_tables.py"),
        *("tests/rules/test_schema.py", "tests/rules/test_tenancy.py"),
        *("tests/rules/test_privileges.py", "tests/rules/test_locks.py"),
        *("tests/rules/test_roles.py", "tests/rules/test_imports.py"),
    )


def test_a_queue_is_explained_watched_and_started_from_its_first_day(copy: Copy) -> None:
    assert NAME in copy.run("-m", "mailqueue", "worker", "--help")
    copy.pytest("-k", NAME, "tests/cli/queues/test_commands.py")


def test_a_queue_is_killed_and_its_hostile_rows_fail_alone(copy: Copy) -> None:
    copy.pytest(
        "-k",
        f"{NAME} or every_point",
        *("tests/queue/kernel/test_crash_points.py", "tests/queue/kernel/test_isolation.py"),
    )


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_queue_is_killed_at_every_point_and_handles_extremes(copy: Copy) -> None:
    copy.pytest("-m", "soak", "-k", NAME, "tests/queue/kernel/test_crash_points.py")
    for way in WAYS:
        case = f"test_rows_of_others_go_on_within_seconds[{NAME}-{way}]"
        copy.pytest("-m", "soak", f"tests/queue/kernel/test_neighbours.py::{case}")
    worked = "(test_every_column or test_workers or test_each_email) and not 30"
    copy.pytest("-k", worked, "tests/queue/extremes")
