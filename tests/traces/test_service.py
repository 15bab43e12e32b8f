"""The service exports while it runs, and is off where no collector is named."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect, open_pool
from mailqueue.settings.environment import DatabaseSettings, Settings, load_settings
from mailqueue.settings.traces import parse_collector, parse_headers
from mailqueue.wiring.services.running import ServiceContext
from mailqueue.wiring.services.traces import target_of, traces
from tests import make
from tests.adapters.sending.fake import fake
from tests.concurrency.running import until
from tests.traces.collector import TAKEN

pytestmark = pytest.mark.anyio


def settings_of(database: DatabaseSettings, url: str | None) -> Settings:
    found = load_settings(data=Path("/nonexistent"), traces_url=url, traces_ratio=1.0)
    return replace(found, database=database)


async def test_the_service_exports_and_gives_up_its_lease(database: DatabaseSettings) -> None:
    async with fake([TAKEN]) as server, connect(database) as conn, open_pool(database) as pool:
        settings = settings_of(database, f"http://127.0.0.1:{server.port}/v1/traces")
        context = ServiceContext(settings, pool, asyncio.Event(), report=print)

        async def begun() -> bool:
            query = "SELECT EXISTS (SELECT FROM mailqueue.trace_export WHERE holder IS NOT NULL)"
            return bool(await make.scalar(conn, query))

        async def received() -> bool:
            return bool(server.requests)

        async with traces(context) as running:
            assert running is not None
            await until(begun)
            await make.rows(
                conn,
                "SELECT mailqueue.suppress(id, 'ann@example.com', '', 'manual', NULL, NULL,"
                " 'manual') FROM mailqueue.projects WHERE name = 'default'",
            )
            await make.queued_email(conn)
            await until(received)
            assert running.is_running()
        assert not await begun()


async def test_up_runs_it_only_with_a_collector(database: DatabaseSettings) -> None:
    async with open_pool(database) as pool:
        settings = settings_of(database, None)
        in_up = ServiceContext(settings, pool, asyncio.Event(), report=print, is_in_up=True)
        async with traces(in_up) as running:
            assert running is None
    with pytest.raises(ConfigError, match="MAILQUEUE_TRACES_URL"):
        target_of(settings.traces)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "collector:4318",
        "grpc://h:4317",
        "http://",
        "http://a:b@h/",
        "http://h/ x",
        "http://h:0",
    ],
)
def test_what_is_no_url_of_a_collector_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="must be a URL"):
        parse_collector(url)


def test_headers_are_read_as_opentelemetry_writes_them() -> None:
    assert parse_headers("api-key=a%2Cb, x-scope = 7 ,") == (("api-key", "a,b"), ("x-scope", "7"))
    assert "opensesame" not in repr(settings_with("api-key=opensesame"))


@pytest.mark.parametrize("text", ["secret", "a b=secret", "a=secret%0d%0ab: c", "=secret"])
def test_headers_of_another_form_are_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(ValueError, match="NAME=VALUE") as refused:
        parse_headers(text)
    assert "secret" not in str(refused.value)


def test_headers_of_another_form_in_the_environment_are_not_repeated() -> None:
    with pytest.raises(ConfigError, match="MAILQUEUE_TRACES_HEADERS") as refused:
        load_settings(data=Path("/nonexistent"), traces_headers="Authorization: Bearer opensesame")
    assert "opensesame" not in str(refused.value)


def settings_with(text: str) -> object:
    settings = load_settings(data=Path("/nonexistent"), traces_headers=text)
    assert settings.traces.headers == Secret(text)
    return settings
