"""The Python on the recipe pages queues mail in the caller's transaction."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import django
import pytest
from django.conf import settings
from django.db import DataError, IntegrityError, connections, transaction
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from tests.recipes.shop import Shop, shown

ANN = "ann@example.com"


class Undone(Exception):
    """Raised by a test inside a transaction to roll it back."""


@contextmanager
def module(text: str) -> Iterator[dict[str, Any]]:
    """Run a page's code as a module; yield its names."""
    made = ModuleType("tests.recipes.shown")
    sys.modules[made.__name__] = made  # FastAPI reads annotations there
    try:
        exec(compile(text, made.__name__, "exec"), made.__dict__)
        yield made.__dict__
    finally:
        del sys.modules[made.__name__]


def added(shop: Shop, before: tuple[int, int]) -> tuple[int, int]:
    orders, mails = shop.counts()
    return orders - before[0], mails - before[1]


def test_sqlalchemy_queues_with_the_session(shop: Shop) -> None:
    functions, use, _, refusal = shown("sqlalchemy", "python")
    before = shop.counts()
    with module(shop.reconnected(functions)) as names:
        exec(use, names)
        assert added(shop, before) == (1, 1)

        with suppress(Undone), Session(names["engine"]) as session, session.begin():
            names["place_order"](session, 82, ANN)
            raise Undone
        assert added(shop, before) == (1, 1)

        exec(refusal, names)
        with Session(names["engine"]) as session, session.begin():
            assert names["place_order_anyway"](session, 83, ANN) is None
            reason = names["place_order_anyway"](session, 84, "nobody")
        assert reason.startswith("recipient_email: ")
        assert added(shop, before) == (3, 2)
        names["engine"].dispose()


@pytest.mark.parametrize(("driver", "order_id"), [("asyncpg", 91), ("psycopg", 92)])
def test_sqlalchemy_queues_with_the_asynchronous_session(
    shop: Shop, driver: str, order_id: int
) -> None:
    text = shown("sqlalchemy", "python")[2].replace("+asyncpg", f"+{driver}")
    text = text.replace("(session, 81,", f"(session, {order_id},")
    before = shop.counts()
    with module(shop.reconnected(text)) as names:
        asyncio.run(names["main"]())
        assert added(shop, before) == (1, 1)

        async def undone() -> None:
            with suppress(Undone):
                async with AsyncSession(names["engine"]) as session, session.begin():
                    await names["place_order"](session, 90, ANN)
                    raise Undone
            await names["engine"].dispose()

        asyncio.run(undone())
    assert added(shop, before) == (1, 1)


@pytest.fixture
def django_here(shop: Shop) -> Iterator[None]:
    """Make the shop's database Django's default connection."""
    if not settings.configured:
        settings.configure(INSTALLED_APPS=["anymail"], ANYMAIL={}, USE_TZ=True)
        django.setup()
    parts = urlsplit(shop.url)
    database = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path[1:],
        "USER": parts.username,
        "PASSWORD": parts.password,
        "HOST": parts.hostname,
        "PORT": parts.port,
    }
    kept = connections.settings
    connections.settings = connections.configure_settings({"default": database})
    if hasattr(connections._connections, "default"):
        del connections["default"]
    yield
    connections["default"].close()
    del connections["default"]
    connections.settings = kept


def mailed_and_placed(names: dict[str, Any], order_id: int) -> None:
    with transaction.atomic():
        names["queue_mail"](ANN, "Hello", "Hello")
        names["place_order"](order_id, ANN)


def test_django_queues_with_the_atomic_block(shop: Shop, django_here: None) -> None:
    (text,) = shown("django", "python")
    before = shop.counts()
    with module(text) as names:
        names["place_order"](101, ANN)
        assert added(shop, before) == (1, 1)

        with suppress(Undone), transaction.atomic():
            names["place_order"](102, ANN)
            raise Undone
        with pytest.raises(IntegrityError):
            mailed_and_placed(names, 101)
        assert added(shop, before) == (1, 1)

        with transaction.atomic():
            names["place_order"](103, ANN)
            with suppress(Undone), transaction.atomic():
                names["queue_mail"](ANN, "Hello", "Hello")
                raise Undone
            with pytest.raises(DataError) as refused, transaction.atomic():
                names["queue_mail"]("nobody", "Hello", "Hello")
    assert added(shop, before) == (2, 2)
    assert refused.value.__cause__.sqlstate == "22023"
    assert refused.value.__cause__.diag.column_name == "recipient_email"


def test_fastapi_queues_with_the_request(shop: Shop) -> None:
    (text,) = shown("fastapi", "python")
    before = shop.counts()
    with (
        module(shop.reconnected(text)) as names,
        TestClient(names["app"], raise_server_exceptions=False) as client,
    ):
        placed = client.post("/orders/201", params={"email": ANN})
        assert (placed.status_code, added(shop, before)) == (201, (1, 1))

        refused = client.post("/orders/202", params={"email": "nobody"})
        again = client.post("/orders/201", params={"email": "bob@example.com"})

    assert refused.status_code == 422
    assert refused.json()["detail"].startswith("to: ")
    assert again.status_code == 500
    assert added(shop, before) == (1, 1)


def test_asyncpg_queues_with_its_transaction(shop: Shop) -> None:
    before = shop.counts()

    async def use(names: dict[str, Any]) -> dict[str, str]:
        conn = await asyncpg.connect(shop.url)
        await names["place_order"](conn, 301, ANN)
        with suppress(Undone):
            async with conn.transaction():
                await names["place_order"](conn, 302, ANN)
                raise Undone
        with pytest.raises(asyncpg.InvalidParameterValueError) as refused:
            await names["place_order"](conn, 303, "nobody")
        assert refused.value.column_name == "recipient_email"
        told: dict[str, str] = await names["remind"](conn, [ANN, "nobody"])
        await conn.close()
        return told

    with module("\n".join(shown("asyncpg", "python"))) as names:
        told = asyncio.run(use(names))

    assert told == {ANN: "queued", "nobody": "rejected"}
    assert added(shop, before) == (1, 2)
