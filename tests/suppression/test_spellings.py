"""All spellings of an address are one address, wherever addresses are compared."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from psycopg.errors import InvalidParameterValue

from mailqueue.contract.suppression import SuppressionReason
from mailqueue.db.fetch import Conn
from mailqueue.events import listing
from mailqueue.events.model import Type
from mailqueue.mail.accept.enqueue import NewEmail, enqueue_batch
from mailqueue.mail.accept.raw import RawEmail
from mailqueue.mail.reads import emails as reads
from mailqueue.mail.reads.model import EmailQuery
from mailqueue.operations import pausing
from mailqueue.privacy import persons
from mailqueue.producer.enqueueing import enqueue as enqueue_by_hand
from mailqueue.senders import rates
from mailqueue.senders.routes import manage as routes_manage
from mailqueue.senders.routes.model import NewRoute
from mailqueue.suppression import entries
from mailqueue.suppression.acceptable import address_of
from mailqueue.suppression.model import NewSuppression
from tests import make
from tests.events.sent_mail import event, left, told
from tests.mail.accept.intakes import WAYS, NotAccepted, Way, plain
from tests.mail.accept.messages import accept_raw
from tests.mail.claim.steps import claim, mark
from tests.mail.enqueueing import enqueue
from tests.privacy.erasing import sent

pytestmark = pytest.mark.anyio

VICTIM = "victim@suppressed.com"
# Each goes to VICTIM on the wire, or to its twin with letters beyond ASCII.
DISGUISED = [
    "victim@suppressed\uff0ecom",
    "victim@suppressed\u3002com",
    "Victim@\uff53uppressed.com",
    "victim@\u017fuppressed.com",
    "victim@\u24e2uppressed.com",
    "victim@sup\u034fpressed.com",
]
BOOKS = "victim@xn--bcher-kva.example"
SPELLED = [
    "victim@b\u00fccher.example",
    "VICTIM@B\u00dcCHER.example",
    "victim@XN--Bcher-kva.example",
]
DECOMPOSED = "victim@bu\u0308cher.example"


async def suppress(conn: Conn, *addresses: str) -> None:
    wanted = [NewSuppression(address_of(one), SuppressionReason.MANUAL) for one in addresses]
    await entries.add(conn, "default", entries=wanted, by="tests")


async def statuses(conn: Conn) -> list[str]:
    return [row[0] for row in await make.rows(conn, "SELECT status FROM mailqueue.emails")]


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
@pytest.mark.parametrize("spelled", SPELLED)
@pytest.mark.parametrize("listed", [*SPELLED, DECOMPOSED])
async def test_a_suppression_stops_mail_in_every_spelling(
    conn: Conn, way: Way, spelled: str, listed: str
) -> None:
    await suppress(conn, listed)

    email_id = await way(conn, **plain(recipient_email=spelled))

    assert await make.status_of(conn, email_id) == "suppressed"


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
@pytest.mark.parametrize("field", ["recipient_email", "cc", "bcc", "also_to"])
async def test_sql_refuses_a_domain_that_reads_like_another(
    conn: Conn, way: Way, field: str
) -> None:
    for spelled in [*DISGUISED, DECOMPOSED]:
        given = spelled if field == "recipient_email" else [spelled]

        with pytest.raises(NotAccepted) as caught:
            await way(conn, **plain(**{field: given}))

        assert caught.value.field == field.replace("also_", "")
        assert "stand for others" in caught.value.message


@pytest.mark.parametrize("spelled", DISGUISED)
async def test_python_hands_over_what_goes_on_the_wire(conn: Conn, spelled: str) -> None:
    await suppress(conn, VICTIM)
    named = f"V <{spelled}>"
    message = f"From: a@example.com\r\nTo: {VICTIM}\r\nSubject: x\r\n\r\nx\r\n".encode()

    await enqueue(conn, NewEmail(spelled, "x", text="x"), project="default")
    await enqueue(conn, NewEmail(named, "x", text="x", options={"cc": [named]}), project="default")
    await enqueue_batch(conn, [NewEmail(named, "x", text="x")], project="default")
    await enqueue_by_hand(conn, [spelled, named], subject="x", text="x", bcc=[spelled])
    await accept_raw(conn, RawEmail(message, (spelled,)), project="default")

    assert await statuses(conn) == ["suppressed"] * 5
    assert await make.rows(
        conn,
        "SELECT DISTINCT split_part(a, '@', 2) FROM (SELECT recipient_email AS a"
        " FROM mailqueue.email_history UNION SELECT address FROM mailqueue.email_recipients) AS s",
    ) == [("suppressed.com",)]


@pytest.mark.parametrize("spelled", [*DISGUISED, *SPELLED, DECOMPOSED])
async def test_the_last_look_goes_by_what_goes_on_the_wire(conn: Conn, spelled: str) -> None:
    """Mail accepted before addresses were normalised, to one recipient and to several."""
    await make.sender_account(conn)
    alone = await make.queued_email(conn)
    among = await make.queued_email(conn, cc=["cy@example.com"])
    await conn.execute("UPDATE mailqueue.email_queue SET recipient_email = %s", (spelled,))
    await conn.execute(
        "UPDATE mailqueue.email_recipients SET address = %s WHERE position = 0", (spelled,)
    )
    worker = await make.worker(conn)
    claims = await claim(conn, worker)

    await suppress(conn, VICTIM, BOOKS)
    found = await mark(conn, worker, claims)

    assert found[alone].verdict == "suppressed"
    assert (found[among].verdict, found[among].stopped) == ("go", (spelled,))


@pytest.mark.parametrize("listed", [*DISGUISED, VICTIM])
async def test_lists_written_by_hand_stop_whom_they_name_on_the_wire(
    conn: Conn, listed: str
) -> None:
    for table, extra in (("bounce_list", ", bounce_type"), ("unsubscribe_list", ", category")):
        await conn.execute(
            f"INSERT INTO mailqueue.{table} (email{extra}) VALUES (%s, %s)".encode(),
            (listed, "hard" if table == "bounce_list" else "news"),
        )
    await conn.execute(
        "INSERT INTO mailqueue.suppressions (project_id, address, category, reason)"
        " SELECT id, %s, 'other', 'manual' FROM mailqueue.projects WHERE name = 'default'",
        (listed.lower(),),
    )

    found = await make.rows(
        conn,
        "SELECT address, category, address_hash = mailqueue.address_hash(project_id, %s)"
        " FROM mailqueue.suppressions ORDER BY category",
        VICTIM,
    )
    assert found == [(VICTIM, each, True) for each in ("", "news", "other")]
    email_id = await make.queued_email(conn, recipient_email=VICTIM)
    assert await make.status_of(conn, email_id) == "suppressed"


async def test_importing_both_spellings_is_one_suppression_that_is_found_and_removed_by_each(
    conn: Conn,
) -> None:
    await suppress(conn, *SPELLED)
    await suppress(conn, DECOMPOSED)

    assert await make.rows(conn, "SELECT address FROM mailqueue.suppressions") == [(BOOKS,)]
    for spelled in [*SPELLED, DECOMPOSED]:
        assert (await entries.check(conn, "default", email=spelled)).suppressed
    for having in ("b\u00fccher", "@b\u00fccher.example", "bcher-kva"):
        assert len((await entries.list_page(conn, "default", having=having)).data) == 1
    await entries.remove(conn, "default", email=DECOMPOSED, by="tests")
    assert await make.rows(conn, "SELECT address FROM mailqueue.suppressions") == []


@pytest.mark.parametrize("spelled", [*SPELLED, DECOMPOSED])
async def test_who_was_erased_stays_suppressed_in_every_spelling(conn: Conn, spelled: str) -> None:
    project = await make.project_named(conn)
    await make.scalar(
        conn, "SELECT mailqueue.begin_erasure(%s, %s, true, 'tests')", project, [spelled]
    )

    email_id = await make.queued_email(conn, recipient_email=SPELLED[0])

    assert await make.status_of(conn, email_id) == "suppressed"


async def test_a_bounce_reported_in_another_spelling_is_of_the_recipient(conn: Conn) -> None:
    account = await make.sender_account(conn)
    mail = await left(conn, account, recipient_email=SPELLED[0])

    await told(
        conn,
        event(Type.HARD_BOUNCE, account=account, email_id=mail, code="5.1.1", recipient=SPELLED[1]),
    )

    assert await make.rows(conn, "SELECT email FROM mailqueue.bounce_list") == [(BOOKS,)]
    assert await make.rows(conn, "SELECT address FROM mailqueue.suppressions") == [(BOOKS,)]
    assert await make.rows(conn, "SELECT recipient_email, data FROM mailqueue.email_events") == [
        (BOOKS, None)
    ]


@pytest.mark.parametrize(
    "spelled", ["@B\u00dcCHER.example", "xn--bcher-kva.example", "bu\u0308cher\u3002example"]
)
async def test_rates_rules_and_pauses_of_a_domain_hold_for_it_in_every_spelling(
    conn: Conn, spelled: str
) -> None:
    await make.sender_account(conn, name="relay")
    rule = await routes_manage.add(
        conn, "default", new=NewRoute(("relay",), None, None, spelled, None, None), by="tests"
    )
    await rates.set_domain_rate(conn, spelled, rate=1, burst=1, note=None)
    first = await make.queued_email(conn, recipient_email=SPELLED[0])
    assert (
        await make.scalar(
            conn,
            "SELECT l.rule_id FROM mailqueue.email_queue AS q"
            " JOIN mailqueue.lanes AS l ON l.id = q.lane_id WHERE q.id = %s",
            first,
        )
        == rule.rule_id
    )
    await make.queued_email(conn, recipient_email=BOOKS)
    worker = await make.worker(conn)
    assert len(await claim(conn, worker)) + len(await claim(conn, worker)) == 1

    target = pausing.Target(pausing.PauseKind.DOMAIN, "default", spelled)
    await pausing.pause(conn, target, until=None, reason=None, by="tests", advance=lambda _: None)

    assert await make.rows(conn, "SELECT value FROM mailqueue.pauses") == [
        ("xn--bcher-kva.example",)
    ]
    stopped = "SELECT value FROM mailqueue.pause_of(%s)"
    assert await make.scalar(conn, stopped, first) == "xn--bcher-kva.example"
    await pausing.resume(conn, target, by="tests")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT mailqueue.add_route('default', '{relay}', p_domain => %s)",
        "SELECT mailqueue.pause_sending('domain', 'default', %s)",
        "INSERT INTO mailqueue.domain_rates (domain, rate_per_second) VALUES (%s, 1)",
        "SELECT mailqueue.change_project('default', jsonb_build_object('allowed_from', ARRAY[%s]))",
    ],
)
async def test_sql_refuses_settings_for_a_domain_that_reads_like_another(
    conn: Conn, statement: str
) -> None:
    await make.sender_account(conn, name="relay")

    with pytest.raises(InvalidParameterValue, match="stand for others"):
        await conn.execute(statement.encode(), ("b\u00fccher\uff0eexample",))


async def test_mail_is_from_whom_its_project_allows_in_every_spelling(conn: Conn) -> None:
    await conn.execute("UPDATE mailqueue.projects SET allowed_from = '{xn--bcher-kva.example}'")

    for spelled in SPELLED:
        email_id = await make.queued_email(conn, from_email=spelled)
        assert await make.scalar(
            conn,
            "SELECT c.from_email FROM mailqueue.email_contents AS c JOIN mailqueue.email_queue AS q"
            " ON q.content_id = c.id WHERE q.id = %s",
            email_id,
        ) in (BOOKS, "VICTIM@xn--bcher-kva.example", SPELLED[2])


async def test_mail_is_found_by_its_recipient_in_every_spelling(conn: Conn) -> None:
    mail = await sent(conn, recipient_email=SPELLED[0])
    project = await make.project_named(conn)
    now = datetime.now(UTC)

    for spelled in [*SPELLED, DECOMPOSED, BOOKS]:
        asked = EmailQuery(project_id=project, to=spelled, limit=9)
        assert [one.id for one in await reads.list_page(conn, asked)] == [mail]
        moments = await listing.list_recipient(
            conn, project, spelled, before=(now.replace(year=2099), uuid4()), limit=9
        )
        assert {one.email_id for one in moments} == {mail}
        assert persons.spellings_of(spelled)[0] == BOOKS


async def test_the_api_that_reads_the_lists_may_compare_addresses(conn: Conn) -> None:
    await conn.execute("SET LOCAL ROLE mailqueue_api")

    assert await make.scalar(conn, "SELECT mailqueue.address_key(%s)", DECOMPOSED) == BOOKS
    assert (
        await make.scalar(conn, "SELECT mailqueue.address_key(%s)", "A@b.example") == "a@b.example"
    )
