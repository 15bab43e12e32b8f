"""Every declaration of the options of a mail has those of MAIL_OPTIONS, and no others."""

import re
from dataclasses import fields

import pytest

from mailqueue.api.compat.option_fields import TYPES as TYPES_OF_COMPAT
from mailqueue.api.sending.schema import SendRequest
from mailqueue.contract.emails import Email
from mailqueue.core.mail_options import MAIL_OPTIONS, Api, OptionType
from mailqueue.db.fetch import Conn
from mailqueue.db.registered import COLUMNS_BY_MARKER, VALUE_BY_TYPE, filled
from mailqueue.db.sql import sql_folder
from mailqueue.producer.model import EmailFields
from tests import make

pytestmark = pytest.mark.anyio

NAMES = {one.name for one in MAIL_OPTIONS}
KEPT = {one.written_to for one in MAIL_OPTIONS if one.is_kept}
BODY = {"subject", "html", "text"}
OF_HTTP_ONLY = {"html_body", "text_body", "subject", "dry_run", "smtp_override"}
# A template has an endpoint of its own; a key says whether mail is of test mode.
NOT_IN_ONE_REQUEST = {"template", "language", "variables", "is_test"}
NOT_SHOWN = {"idempotency_key"}


async def columns_of(conn: Conn, table: str) -> set[str]:
    query = "SELECT attname::text FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
    return {row[0] for row in await make.rows(conn, query, f"mailqueue.{table}")}


def test_programs_may_say_every_option_but_the_mode() -> None:
    assert set(EmailFields.__annotations__) - BODY == NAMES - {"is_test"}


def test_requests_may_say_every_option() -> None:
    fields = {one.api_field for one in MAIL_OPTIONS if one.name not in NOT_IN_ONE_REQUEST}

    assert set(SendRequest.model_fields) - OF_HTTP_ONLY == fields


def test_an_email_shows_every_option_that_it_keeps() -> None:
    assert KEPT - {one.name for one in fields(Email)} == NOT_SHOWN


async def test_every_option_has_its_column(conn: Conn) -> None:
    known = await columns_of(conn, "email_queue")

    assert {one.written_to or one.name for one in MAIL_OPTIONS} <= known


async def test_what_is_kept_is_in_history_and_the_rest_is_not(conn: Conn) -> None:
    known = await columns_of(conn, "email_history")

    assert {one.written_to or one.name for one in MAIL_OPTIONS} & known == KEPT | {"is_test"}


async def test_the_view_of_all_emails_has_what_is_kept(conn: Conn) -> None:
    assert KEPT - await columns_of(conn, "emails") == NOT_SHOWN


def test_every_type_is_read_by_the_marker_or_by_hand() -> None:
    assert set(OptionType) - set(VALUE_BY_TYPE) == {OptionType.PRIORITY, OptionType.WHOLE}


@pytest.mark.parametrize("api", Api)
def test_a_field_of_another_api_has_a_type_that_it_can_read(api: Api) -> None:
    of_forms = {OptionType.STRING, OptionType.BOOLEAN}
    readable = of_forms if api is Api.MAILGUN else set(TYPES_OF_COMPAT)

    assert {one.type for one in MAIL_OPTIONS if api in one.compat} <= readable


def test_only_strings_have_a_length() -> None:
    bound = {one.type for one in MAIL_OPTIONS if one.max_characters is not None}

    assert bound <= {OptionType.STRING}


def test_no_marker_is_left_in_sql() -> None:
    left = {
        path.name: found
        for path in sql_folder().rglob("*.sql")
        if path.parent.name != "migrations"
        and (found := re.findall(r"\[\[[^\]]*[A-Z]{3}[^\]]*\]\]", filled(path.read_text("utf-8"))))
    }

    assert left == {}


def test_columns_of_options_are_listed_for_a_table_or_without_some() -> None:
    first, second, *others = COLUMNS_BY_MARKER["KEPT_COLUMNS"]

    assert filled(f"[[q.KEPT_COLUMNS BUT {first},\n {second}]]") == (
        ", ".join(f"q.{one}" for one in others)
    )
    everything = ", ".join((first, second, *others))
    assert filled("[[KEPT_COLUMNS]]") == everything
    assert filled(f"SELECT 1[[, KEPT_COLUMNS BUT {everything}]] FROM") == "SELECT 1 FROM"
    with pytest.raises(ValueError, match="no such column: tgas"):
        filled("[[KEPT_COLUMNS BUT tgas]]")
