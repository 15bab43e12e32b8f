"""Services: which run, by their heartbeat, and which are missing although they are needed."""

from uuid import uuid4

import pytest

from mailqueue.contract.infrastructure import ServiceSeen
from mailqueue.core.services.registry import SERVICES
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.operations import services
from mailqueue.operations.services import list_all, not_running, reporting
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.logged import log_of
from tests.watch import watching
from tests.webhooks.delivering import until

pytestmark = pytest.mark.anyio


async def seen(conn: Conn) -> dict[str, ServiceSeen]:
    return {one.service: one for one in await list_all(conn)}


async def check(conn: Conn) -> tuple[str, str, str | None]:
    [row] = await make.rows(
        conn, "SELECT state, found, fix FROM mailqueue.health WHERE name = 'services'"
    )
    return row


async def beat(conn: Conn, *services: str, host: str = "mail-1", age: str = "0 s") -> None:
    await conn.execute(
        "SELECT mailqueue.keep_services(%s, %s, %s, 7, '0.1.0', false)",
        (launch := uuid4(), list(services), host),
    )
    await conn.execute(
        "UPDATE mailqueue.service_processes SET beat_at = beat_at - %s::interval"
        " WHERE launch_id = %s",
        (age, launch),
    )


async def _is_gone(conn: Conn, service: str) -> bool:
    return (await seen(conn))[service].processes == 0


async def test_every_service_of_the_registry_is_listed_in_its_order(conn: Conn) -> None:
    found = await list_all(conn)

    assert [one.service for one in found] == [one.name for one in SERVICES]
    assert [one.command for one in found] == [
        " ".join(("mailqueue", *one.command)) for one in SERVICES
    ]
    assert {one.processes for one in found} == {0}


async def test_a_listener_runs_where_its_processes_report(conn: Conn) -> None:
    await beat(conn, "api", "console", host="web-1")
    await beat(conn, "api", host="web-2")

    found = await seen(conn)

    assert (found["api"].processes, found["api"].hosts) == (2, ["web-1", "web-2"])
    assert (found["console"].processes, found["console"].hosts) == (1, ["web-1"])
    assert found["api"].since is not None
    assert found["trap"].since is None


@pytest.mark.parametrize("age", ["31 s", "-1 h"])
async def test_a_process_that_no_longer_reports_does_not_run(conn: Conn, age: str) -> None:
    """A report of the future is of a clock that has been set back since."""
    await beat(conn, "api", age=age)

    assert (await seen(conn))["api"].processes == 0


async def test_a_worker_counts_for_the_services_whose_queues_it_works_on(conn: Conn) -> None:
    await make.worker(conn, host="mail-1")
    await make.worker(conn, host="mail-2", kind="inbound", queues=["inbound"])

    found = await seen(conn)

    assert (found["send"].processes, found["send"].hosts) == (1, ["mail-1"])
    assert (found["inbound"].processes, found["inbound"].hosts) == (1, ["mail-2"])
    assert found["webhooks"].processes == 0


async def test_a_process_reports_what_it_runs_until_it_ends(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "STOP_SECONDS", 60.0)  # a busy machine connects slowly
    works = {"idle": True}
    async with connect(database) as conn:
        async with reporting(
            database, {"api": lambda: True, "idle": lambda: works["idle"]}, every=0
        ):
            during = await seen(conn)
            assert (during["api"].processes, during["idle"].processes) == (1, 1)
            works["idle"] = False
            await until(lambda: _is_gone(conn, "idle"))
            assert (await seen(conn))["api"].processes == 1

        assert (await seen(conn))["api"].processes == 0


async def test_a_process_is_seen_again_once_its_reports_are_no_longer_refused(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = "(uuid, text[], text, integer, text, boolean)"
    written = log_of(services, monkeypatch)
    asked = 0

    def is_running() -> bool:
        nonlocal asked
        asked += 1
        return True

    async def is_refused_again() -> bool:
        return asked >= 3

    async def is_seen() -> bool:
        return (await seen(conn))["api"].processes == 1

    async with connect(database) as conn:
        await conn.execute(
            f"ALTER FUNCTION mailqueue.keep_services{arguments} RENAME TO absent".encode()
        )
        async with reporting(database, {"api": is_running}, every=0):
            await until(is_refused_again)
            await conn.execute(
                f"ALTER FUNCTION mailqueue.absent{arguments} RENAME TO keep_services".encode()
            )
            await until(is_seen)

    assert written.getvalue().count(b"services.refused") == 1


async def test_nothing_is_missing_where_nothing_is_needed(conn: Conn) -> None:
    assert await check(conn) == ("ok", "every listener that is needed runs", None)


async def test_inboxes_at_imap_servers_need_a_listener(conn: Conn) -> None:
    await watching.inbox(conn, await watching.user(conn), 143)

    state, found, fix = await check(conn)
    await beat(conn, "idle")

    assert (state, found) == (
        "warning",
        "no process runs: idle (an inbox at an IMAP server is watched)",
    )
    assert fix is not None
    assert "mailqueue worker idle" in fix
    assert (await check(conn))[0] == "ok"


async def test_a_bounce_domain_needs_its_listener_unless_bounces_come_by_http(conn: Conn) -> None:
    await make.project(conn, bounce_domain="bounces.example.com")

    state, found, fix = await check(conn)

    assert (state, "bounces" in found) == ("warning", True)
    assert fix is not None
    assert "mailqueue worker bounces" in fix


@pytest.mark.parametrize(
    ("behind", "leased", "state", "says"),
    [
        ("23 h", "-1 h", "ok", "warning: no process runs: traces (traces wait since "),
        ("25 h", "-1 h", "ok", "ok: every listener that is needed runs"),
        ("9 min", "1 min", "ok", "warning: no process runs: traces (traces wait since "),
        ("11 min", "1 min", "warning", "it answered 503"),
    ],
)
async def test_traces_that_wait_need_their_exporter_and_its_collector(
    conn: Conn, behind: str, leased: str, state: str, says: str
) -> None:
    await conn.execute(
        "INSERT INTO mailqueue.trace_export (exported_to, horizon, holder, lease_until, last_error,"
        " spans, left_out) VALUES (now() - %s::interval, now(), gen_random_uuid(),"
        " now() + %s::interval, 'it answered 503', 7, 2)",
        (behind, leased),
    )
    query = "SELECT state, found, fix FROM mailqueue.health WHERE name = 'traces'"
    [(found, told, fix)] = await make.rows(conn, query)
    services, why, _ = await check(conn)

    assert found == state
    assert f"{services}: {why}".startswith(says) or says in told
    assert (fix is None) == (state == "ok")
    gauges = {
        (name, *labels): value
        for name, labels, value in await make.rows(conn, "SELECT * FROM mailqueue.gauges()")
        if "_trace_" in name
    }
    assert gauges.pop(("mailqueue_trace_spans", "exported")) == 7
    assert gauges.pop(("mailqueue_trace_spans", "left_out")) == 2
    assert [*gauges] == ([] if behind == "25 h" else [("mailqueue_trace_age_seconds",)])


async def test_a_transaction_of_one_project_sees_no_services(conn: Conn) -> None:
    project = await make.project(conn, "shop")
    async with conn.transaction():
        await conn.execute("SELECT set_config('mailqueue.project', %s, true)", (str(project),))
        assert await list_all(conn) == []


async def test_a_hostile_name_of_a_host_is_cut_and_repeated_services_are_one(conn: Conn) -> None:
    await beat(conn, "api", "api", host="x" * 10_000)

    assert [len(host) for host in (await seen(conn))["api"].hosts] == [255]


def test_a_service_whose_variables_are_set_and_that_does_not_run_is_named() -> None:
    given = frozenset({"rabbitmq_url", "rabbitmq_queues", "port"})
    running = ServiceSeen("rabbitmq", "", 1, ["mail-1"], None, None, None)

    assert [one.name for one in not_running(SERVICES, [], given)] == ["rabbitmq"]
    assert not_running(SERVICES, [running], given) == []
    assert not_running(SERVICES, [], given - {"rabbitmq_queues"}) == []
