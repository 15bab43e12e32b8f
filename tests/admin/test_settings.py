"""Settings and flags: typed, audited, and effective."""

from dataclasses import replace

import pytest
from psycopg import errors

from mailqueue.admin import revoking, settings
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.projects import manage as projects_manage
from mailqueue.projects.keys.manage import issue_key
from tests import make
from tests.mail.enqueueing import enqueue

pytestmark = pytest.mark.anyio

HELLO = NewEmail(recipient="ann@example.com", subject="Hello", text="Hello")


async def test_every_setting_says_what_it_means_and_flags_stand_apart(conn: Conn) -> None:
    every = await settings.list_all(conn)
    flags = await settings.list_flags(conn)

    assert {"max_send_rate", "oldest_due_alarm", "max_attachment_bytes"} <= {s.name for s in every}
    assert {flag.name: flag.value for flag in flags} == {
        "accept_mail": "on",
        "own_servers": "on",
        "test_keys": "on",
    }
    assert all(each.meaning for each in every + flags)


@pytest.mark.parametrize(
    ("name", "to"),
    [
        ("oldest_due_alarm", "2 h"),
        ("held_alarm", "5"),
        ("slot_warning", "3 GB"),
        ("attachment_types", "application/pdf, image/png"),
        ("max_send_rate", "12.5"),
    ],
)
async def test_a_change_holds_and_is_in_the_audit_with_who_made_it(
    conn: Conn, name: str, to: str
) -> None:
    before = {each.name: each.value for each in await settings.list_all(conn)}[name]

    changed = await settings.change(conn, {name: to}, by="ann (token)")
    await settings.change(conn, {name: to}, by="nobody, as it was so")

    assert {each.name: each.value for each in changed}[name] == to
    rows = await make.rows(
        conn, "SELECT actor, detail->>'to' FROM mailqueue.audit_events ORDER BY id"
    )
    assert [(actor, str(told)) for actor, told in rows] == [("ann (token)", to)], before


@pytest.mark.parametrize(
    ("name", "to"),
    [
        ("colour", "red"),
        ("accept_mail", "off"),  # a flag is no setting
        ("oldest_due_alarm", "soon"),
        ("oldest_due_alarm", "-5 min"),
        ("held_alarm", "-1"),
        ("held_alarm", "1.5"),
        ("held_alarm", "99999999999999999999"),
        ("slot_warning", "many"),
        ("attachment_types", ""),
        ("attachment_types", ",,"),
        ("attachment_types", "x" * 3000),
        ("max_send_rate", "fast"),
        ("max_send_rate", "2000000"),
    ],
)
async def test_what_a_setting_cannot_be_is_refused_by_name(conn: Conn, name: str, to: str) -> None:
    with pytest.raises(InvalidField) as refused:
        async with conn.transaction():
            await settings.change(conn, {name: to}, by="ann")

    assert refused.value.field == name


async def test_no_mail_is_accepted_while_that_flag_is_off(conn: Conn) -> None:
    await settings.switch(conn, {"accept_mail": False}, by="ann")
    with pytest.raises(errors.DiskFull, match="the flag accept_mail is off"):
        async with conn.transaction():
            await make.queued_email(conn)

    await settings.switch(conn, {"accept_mail": True}, by="ann")

    assert await make.queued_email(conn) is not None
    with pytest.raises(InvalidField, match="must be one of accept_mail, own_servers, test_keys"):
        await settings.switch(conn, {"colour": True}, by="ann")


async def test_no_test_key_is_given_out_while_that_flag_is_off(conn: Conn) -> None:
    await settings.switch(conn, {"test_keys": False}, by="ann")

    with pytest.raises(InvalidField, match="test_keys is off"):
        async with conn.transaction():
            await issue_key(conn, "default", "trial", is_test=True)
    await issue_key(conn, "default", "web", is_test=False)


async def test_no_mail_names_its_own_server_while_that_flag_is_off(conn: Conn) -> None:
    await settings.switch(conn, {"own_servers": False}, by="ann")

    with pytest.raises(errors.InvalidParameterValue, match="own_servers is off"):
        async with conn.transaction():
            await conn.execute(
                "SELECT * FROM mailqueue.begin_custom_smtp_now('default', %s, 'host', 1, 'test')",
                (
                    '{"recipient": "ann@example.com", "subject": "x", "text": "x",'
                    ' "from_email": "ben@example.com"}',
                ),
            )


@pytest.mark.parametrize(
    ("setting", "to", "why"),
    [
        ("max_attachment_bytes", "2 bytes", "may have at most 2 bytes"),
        ("attachment_types", "image/png", "is not allowed in this project"),
    ],
)
async def test_files_stay_within_what_the_installation_allows(
    conn: Conn, setting: str, to: str, why: str
) -> None:
    file = {"filename": "a.pdf", "content_type": "application/pdf", "content": "JVBERi0xLjQ="}
    email = replace(HELLO, options={"attachments": [file]})
    await enqueue(conn, email, project="default")
    await settings.change(conn, {setting: to}, by="ann")

    with pytest.raises(InvalidField, match=why):
        async with conn.transaction():
            await enqueue(conn, email, project="default")


async def test_new_projects_begin_with_the_limits_of_the_installation(conn: Conn) -> None:
    limits = {"project_daily_limit": "1000", "project_rate_per_second": "5"}
    await settings.change(conn, limits, by="ann")

    usual = await projects_manage.add(conn, "usual", by="ann")
    own = await projects_manage.add(conn, "own", settings={"daily_limit": None}, by="ann")

    assert (usual.daily_limit, usual.rate_per_second) == (1000, 5.0)
    assert (own.daily_limit, own.rate_per_second) == (None, 5.0)


async def test_keys_are_revoked_over_all_projects_by_what_is_known_of_them(conn: Conn) -> None:
    await projects_manage.add(conn, "shop", by="ann")
    live = await issue_key(conn, "shop", "web", is_test=False)
    other = await issue_key(conn, "shop", "app", is_test=False)
    trial = await issue_key(conn, "default", "trial", is_test=True)

    by_prefix = await revoking.revoke(conn, prefix="mq_test_", reason="over", by="ann")
    by_key = await revoking.revoke(conn, key=live.key.reveal(), reason="leaked", by="ann")
    none = await revoking.revoke(conn, project="shop", prefix="mq_test_", reason="over", by="ann")
    by_project = await revoking.revoke(conn, project="shop", reason="closed", by="ann")

    assert [key.name for key in by_prefix if key.hint == trial.record.hint] == ["trial"]
    assert [(key.project, key.name) for key in by_key] == [("shop", "web")]
    assert none == []
    assert [key.hint for key in by_project] == [other.record.hint]
    told = await make.rows(
        conn,
        "SELECT subject, detail->>'reason' FROM mailqueue.audit_events"
        " WHERE action = 'api_key.revoked' AND actor = 'ann' ORDER BY id",
    )
    assert told[-2:] == [("api key web", "leaked"), ("api key app", "closed")]


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"project": "default", "is_all": True},
        {"prefix": ""},
        {"prefix": "mq_live_a7Qz9"},
        {"key": "mq_live_1"},
        {"project": "nowhere"},
        {"project": "default", "reason": " "},
    ],
)
async def test_revoking_needs_to_be_meant(conn: Conn, said: dict[str, object]) -> None:
    with pytest.raises(InvalidField):
        async with conn.transaction():
            await revoking.revoke(conn, **{"reason": "why", "by": "ann"} | said)  # type: ignore[arg-type]
