"""A provider's request is verified, durable before the response, and stored once, unchanged."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.core.errors import NotFound
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.inbound import endpoints
from mailqueue.inbound.endpoints import NO_CHANGE, SecretsChange
from mailqueue.senders import accounts
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.calling import ORIGIN
from tests.inbound.json_provider import MASTER, Honest, InboundClient, desk, states

pytestmark = pytest.mark.anyio
TOLD = {"type": "delivered", "event_id": "1", "email_id": "01a1fa63-0000-7000-8000-000000000001"}


@pytest.fixture(scope="module")
def database(module_db: str) -> DatabaseSettings:
    return DatabaseSettings(Secret(module_db))


@pytest.fixture(scope="module")
async def sql(database: DatabaseSettings) -> AsyncIterator[Conn]:
    async with connect(database) as conn:
        yield conn


@pytest.fixture(scope="module")
async def served(database: DatabaseSettings, sql: Conn) -> AsyncIterator[InboundClient]:
    async with desk(database, sql) as made:
        yield made


@pytest.fixture(autouse=True)
async def nothing_told(sql: Conn) -> None:
    await sql.execute("DELETE FROM mailqueue.inbound_events")


async def test_it_is_kept_as_it_came_with_what_is_needed_to_read_it(
    served: InboundClient, sql: Conn
) -> None:
    body = b'[ {"type" : "delivered"} ]\r\n'

    assert await served.tell(body=body, webhook_id="a", content_type="text/plain") == 200

    [(kept, headers, account, project)] = await make.rows(
        sql,
        "SELECT body, headers, sender_account_id, project_id FROM mailqueue.inbound_events",
    )
    assert kept == body
    assert headers == {
        "webhook-id": "a",
        "content-type": "text/plain",
        "user-agent": headers["user-agent"],
    }
    assert (account, project) == (served.account, await make.project_named(sql))
    assert await states(sql) == ["pending"]


async def test_twins_are_kept_once_and_heard_alike(served: InboundClient, sql: Conn) -> None:
    assert [await served.tell(TOLD, webhook_id="a") for _ in range(3)] == [200, 200, 200]
    assert await served.tell(TOLD, webhook_id="b") == 200
    assert await states(sql) == ["pending", "pending"]


async def test_what_has_no_name_is_another_each_time(served: InboundClient, sql: Conn) -> None:
    assert [await served.tell(TOLD), await served.tell(TOLD)] == [200, 200]
    assert len(await states(sql)) == 2


async def test_what_is_not_proved_is_refused_without_a_word_of_why(
    served: InboundClient, sql: Conn
) -> None:
    answer = await served.http.post(served.url, content=b"[]", headers={"X-Secret": "wrong"})

    assert answer.status_code == 401
    assert "secret" not in answer.text.lower()
    assert await states(sql) == []


async def test_another_url_is_not_found(served: InboundClient, sql: Conn) -> None:
    token = served.url.rpartition("/")[2]
    for path in (
        f"/inbound/sendgrid/{token[:-1]}",
        f"/inbound/sendgrid/{token}x",
        f"/inbound/mailgun/{token}",
        f"/inbound/nobody/{token}",
        "/inbound/sendgrid/%00",
        f"/inbound/sendgrid/{'x' * 300}",
    ):
        answer = await served.http.post(path, content=b"[]", headers={"X-Secret": "right"})
        assert answer.status_code == 404, path
    assert (await served.http.get(served.url)).status_code == 405
    assert await states(sql) == []


async def test_a_body_larger_than_the_provider_tells_is_refused(
    served: InboundClient, sql: Conn
) -> None:
    assert await served.tell(body=b"x" * 2001) == 413
    assert await served.tell(body=b"x" * 2000) == 200
    assert await states(sql) == ["pending"]


async def test_where_it_cannot_be_proved_now_the_provider_is_to_send_again(
    fresh_db: str,
) -> None:
    database = DatabaseSettings(Secret(fresh_db))
    async with connect(database) as conn, desk(database, conn, Honest(is_away=True)) as made:
        answer = await made.http.post(made.url, content=b"[]")

        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "30"


async def test_without_the_database_nothing_is_heard_as_kept(fresh_db: str) -> None:
    database = DatabaseSettings(Secret(fresh_db))
    async with connect(database) as conn, desk(database, conn) as made:
        await conn.execute("ALTER FUNCTION mailqueue.keep_inbound RENAME TO gone")
        assert (
            await made.http.post(made.url, content=b"[]", headers={"X-Secret": "right"})
        ).is_error
        await made.pool.close()
        assert await made.tell(TOLD) == 503


async def test_a_rotated_url_is_another_and_the_old_one_is_gone(
    sql: Conn, served: InboundClient
) -> None:
    account = await accounts.find(sql, "default", name="relay")
    old = await endpoints.show(sql, account, provider="sendgrid", master=MASTER, base_url=ORIGIN)

    async def put(change: SecretsChange, *, is_rotated: bool) -> str:
        shown = await endpoints.put(
            sql,
            account,
            provider="sendgrid",
            change=change,
            is_rotated=is_rotated,
            master=MASTER,
            base_url=ORIGIN,
            by="tests",
        )
        return shown.url

    assert await put(SecretsChange(signing=("new", "right")), is_rotated=False) == old.url
    assert await served.tell(TOLD, X_Secret="new") == 200
    new = await put(NO_CHANGE, is_rotated=True)
    assert new != old.url
    assert await served.tell(TOLD) == 404
    answer = await served.http.post(new, content=b"[]", headers={"X-Secret": "right"})
    assert answer.status_code == 200
    await endpoints.remove(sql, account, provider="sendgrid", by="tests")
    with pytest.raises(NotFound):
        await endpoints.show(sql, account, provider="sendgrid", master=MASTER, base_url=ORIGIN)
