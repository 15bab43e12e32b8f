"""One email to the name of a list, which goes to each of its contacts."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.contacts import people
from tests.contacts.sends import steps
from tests.inbox import events
from tests.templates.making import published

pytestmark = pytest.mark.anyio
NEWS = {"category": "marketing"}


@pytest.fixture
async def db(database: DatabaseSettings) -> AsyncIterator[Conn]:
    """Yield a connection that commits."""
    async with connect(database) as conn:
        yield conn


async def enqueued(conn: Conn, recipient: str, **options: Any) -> UUID:
    """Return what `mailqueue.enqueue` returns for a recipient."""
    query = "SELECT mailqueue.enqueue('default', %s, 'Hello', NULL, 'We moved.', %s)"
    return UUID(str(await make.scalar(conn, query, recipient, Jsonb(options))))


async def test_enqueue_for_a_list_makes_a_mail_for_each_of_its_contacts(
    db: Conn, database: DatabaseSettings
) -> None:
    project = await make.project_named(db)
    await steps.listed(db, project, 3)

    batch = await enqueued(
        db, "news", **NEWS, tags=["may"], custom_data={"n": 1}, from_email="ann@example.com"
    )
    assert await steps.queued(db) == []  # workers make it
    await steps.worked(database)

    assert await steps.queued(db) == [f"news{n}@example.com" for n in range(3)]
    query = "SELECT DISTINCT category, tags, custom_data FROM mailqueue.email_queue"
    assert await make.rows(db, query) == [("marketing", ["may"], {"n": 1})]
    query = "SELECT DISTINCT subject, from_email FROM mailqueue.email_contents"
    assert await make.rows(db, query) == [("Hello", "ann@example.com")]
    counted = "SELECT recipients, counts FROM mailqueue.batch_of(%s, %s)"
    assert await make.rows(db, counted, project, batch) == [(3, {"pending": 3})]


async def test_enqueue_for_a_list_is_undone_with_its_transaction(
    db: Conn, database: DatabaseSettings
) -> None:
    project = await make.project_named(db)
    await steps.listed(db, project, 1)

    async with db.transaction(force_rollback=True):
        await enqueued(db, "news", **NEWS, idempotency_key="k")

    assert await steps.worked(database) == 0
    assert await make.scalar(db, "SELECT count(*) FROM mailqueue.idempotency_keys") == 0


async def test_an_idempotency_key_sends_to_a_list_once(
    db: Conn, database: DatabaseSettings
) -> None:
    project = await make.project_named(db)
    await steps.listed(db, project, 1)

    first = await enqueued(db, "news", **NEWS, idempotency_key="k")
    assert await enqueued(db, "news", **NEWS, idempotency_key="k") == first
    with pytest.raises(errors.InvalidParameterValue, match=r"^idempotency_key: .*another email"):
        await enqueued(db, "news", **NEWS, idempotency_key="k", priority="low")
    with pytest.raises(errors.InvalidParameterValue, match=r"^idempotency_key: .*another email"):
        await enqueued(db, "ann@example.com", **NEWS, idempotency_key="k")

    await steps.worked(database)
    assert await steps.queued(db) == ["news0@example.com"]


async def test_a_template_gives_mail_to_a_list_its_category_and_each_contact(
    db: Conn, database: DatabaseSettings
) -> None:
    project = await make.project_named(db)
    await published(db, project, words=steps.HELLO_CONTACT, category="marketing")
    ann = await people.added(db, project, "ann@example.com", first_name="Ann")
    await people.list_of(db, project, members=ann)
    options = {"template": "welcome", "variables": {"Edition": "48"}}

    await db.execute(
        "SELECT mailqueue.enqueue('default', 'news', options => %s)", (Jsonb(options),)
    )
    await steps.worked(database)

    query = "SELECT category, custom_data -> 'variables' FROM mailqueue.email_queue"
    [(category, variables)] = await make.rows(db, query)
    assert (category, variables["Edition"]) == ("marketing", "48")
    assert variables["contact"]["first_name"] == "Ann"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({}, "category"),
        ({"category": "transactional"}, "category"),
        (NEWS | {"to": ["ann@example.com"]}, "to"),
        (NEWS | {"cc": ["ann@example.com"]}, "cc"),
        (NEWS | {"bcc": ["ann@example.com"]}, "bcc"),
        (NEWS | {"idempotency_key": ""}, "idempotency_key"),
        (NEWS | {"idempotency_key": "k" * 256}, "idempotency_key"),
        (NEWS | {"idempotency_key": 1}, "idempotency_key"),
        (NEWS | {"custom_data": {"variables": 1}}, "custom_data"),
        (NEWS | {"custom_data": [1]}, "custom_data"),
        (NEWS | {"tags": [1]}, "tags"),
        (NEWS | {"variables": [1]}, "variables"),
        (NEWS | {"variables": {"Edition": "48"}}, "variables"),  # without a template
        (NEWS | {"template": "none"}, "subject"),
        (NEWS | {"sender": "none"}, "sender"),
        (NEWS | {"headers": {"X": "a\nb"}}, "headers"),
        (NEWS | {"colour": "red"}, "colour"),
        (NEWS | {"batch_id": "x"}, "batch_id"),
    ],
)
async def test_what_is_wrong_with_mail_to_a_list_is_refused_by_field(
    conn: Conn, options: dict[str, Any], field: str
) -> None:
    project = await make.project_named(conn)
    await steps.listed(conn, project, 1)

    with pytest.raises(errors.InvalidParameterValue, match=f"^({field}): "):
        await enqueued(conn, "news", **options)


async def test_mail_to_a_list_without_content_is_refused_as_mail_to_an_address(conn: Conn) -> None:
    project = await make.project_named(conn)
    await steps.listed(conn, project, 1)
    query = "SELECT mailqueue.enqueue('default', %s, options => %s)"
    said = list[str]()

    for recipient in ("news", "ann@example.com"):
        with pytest.raises(errors.InvalidParameterValue) as refused:
            async with conn.transaction():
                await conn.execute(query, (recipient, Jsonb(NEWS)))
        said.append(str(refused.value).splitlines()[0])

    assert said == ["subject: a subject is needed"] * 2


async def test_options_that_are_null_are_none_for_a_list_as_for_an_address(conn: Conn) -> None:
    project = await make.project_named(conn)
    await steps.listed(conn, project, 1)
    query = "SELECT mailqueue.enqueue('default', 'news', 'Hello', NULL, 'We moved.', NULL)"

    with pytest.raises(errors.InvalidParameterValue, match=r"^category: "):
        await conn.execute(query)


@pytest.mark.parametrize("recipient", ["other", "News", "ne ws", "news@", "", "list:news"])
async def test_what_is_the_name_of_no_list_is_refused_as_an_address(
    conn: Conn, recipient: str
) -> None:
    project = await make.project_named(conn)
    await steps.listed(conn, project, 1)

    with pytest.raises(errors.InvalidParameterValue, match=r"^recipient\w*: "):
        await enqueued(conn, recipient, **NEWS)


async def test_mail_with_a_server_of_its_own_goes_to_no_list(conn: Conn) -> None:
    project = await make.project_named(conn)
    await steps.listed(conn, project, 1)
    mail = {"recipient": "news", "subject": "x", "text": "x", "from_email": "a@example.com"} | NEWS

    query = "SELECT * FROM mailqueue.queue_custom_smtp('default', %s, gen_random_uuid(), 'sealed')"
    with pytest.raises(errors.InvalidParameterValue, match=r"^recipient: .*not an address"):
        await conn.execute(query, (Jsonb(mail),))


async def test_lists_of_other_projects_and_of_test_keys_are_names_of_no_list(conn: Conn) -> None:
    await make.project_named(conn)
    other = await make.project(conn, "other")
    await steps.listed(conn, other, 1, name="theirs")
    await steps.listed(conn, await make.project_named(conn), 1, name="mine")

    for recipient, options in (("theirs", NEWS), ("mine", NEWS | {"is_test": True})):
        with pytest.raises(errors.InvalidParameterValue, match=r"^(recipient\w*|sender): "):
            async with conn.transaction():
                await enqueued(conn, recipient, **options)

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.list_sends") == 0


async def test_a_mode_that_is_null_is_that_of_the_transaction(conn: Conn) -> None:
    project = await make.project_named(conn)
    await make.sender_account(conn, name="pit", provider="trap")
    ids = await people.added(conn, project, "zoe@example.com", is_test=True)
    await conn.execute("SELECT set_config('mailqueue.mode', 'test', true)")
    await people.list_of(conn, project, members=ids)

    batch = await enqueued(conn, "news", **NEWS, is_test=None)

    query = "SELECT batch_id, is_test FROM mailqueue.list_sends"
    assert await make.rows(conn, query) == [(batch, True)]


async def test_an_address_in_an_event_is_never_the_name_of_a_list(conn: Conn) -> None:
    project = await events.project_with_template(conn)
    await conn.execute("UPDATE mailqueue.templates SET category = 'marketing'")
    await steps.listed(conn, project, 2)
    await events.rule(conn, project)

    ann = {"name": "Ann", "email": "news"}
    found = await events.consume(conn, events.ORDER | {"customer": ann})

    assert found["status"] != "mail"
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.list_sends") == 0
    assert await steps.queued(conn) == []
