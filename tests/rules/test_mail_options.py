"""Every declaration of what a mail may say has the options of MAIL_OPTIONS, and no others."""

import pytest

from mailqueue.api.sending.schema import SendRequest
from mailqueue.core.mail_options import MAIL_OPTIONS, OptionType
from mailqueue.db.fetch import Conn
from mailqueue.db.registered import VALUE_BY_TYPE
from mailqueue.producer.model import Mail
from tests import make

pytestmark = pytest.mark.anyio

NAMES = {one.name for one in MAIL_OPTIONS}
BODY = {"subject", "html", "text"}
OF_HTTP_ONLY = {"html_body", "text_body", "subject", "dry_run", "smtp_override"}
# A template has an endpoint of its own; a key says whether mail is of test mode.
NOT_IN_ONE_REQUEST = {"template", "language", "variables", "is_test"}


def test_programs_may_say_every_option_but_the_mode() -> None:
    assert set(Mail.__annotations__) - BODY == NAMES - {"is_test"}


def test_requests_may_say_every_option() -> None:
    fields = {one.api or one.name for one in MAIL_OPTIONS if one.name not in NOT_IN_ONE_REQUEST}

    assert set(SendRequest.model_fields) - OF_HTTP_ONLY == fields


async def test_every_option_has_its_column(conn: Conn) -> None:
    columns = await make.rows(
        conn,
        "SELECT attname::text FROM pg_attribute"
        " WHERE attrelid = 'mailqueue.email_queue'::regclass AND attnum > 0",
    )

    assert {one.written_to or one.name for one in MAIL_OPTIONS} <= {row[0] for row in columns}


def test_every_type_is_read_by_the_marker_or_by_hand() -> None:
    assert set(OptionType) - set(VALUE_BY_TYPE) == {OptionType.PRIORITY, OptionType.WHOLE}
