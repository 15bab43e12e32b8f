"""The operations that each role is refused, with real logins."""

from collections.abc import Sequence
from urllib.parse import urlsplit

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from tests.conftest import Server
from tests.rules.logins import login, mail

pytestmark = pytest.mark.anyio

REFUSED_TO_A_PRODUCER = (
    "SELECT * FROM mailqueue.email_queue",
    "SELECT recipient_email FROM mailqueue.email_queue",
    "SELECT html_body FROM mailqueue.email_contents",
    "SELECT text_body FROM mailqueue.emails",
    "SELECT smtp_password FROM mailqueue.sender_accounts",
    "SELECT wrapped FROM mailqueue.data_keys",
    "SELECT key FROM mailqueue.idempotency_keys",
    "SELECT * FROM mailqueue.suppressions",
    "SELECT mailqueue.suppressed(gen_random_uuid(), 'ann@example.com', 'x')",
    "SELECT mailqueue.cancel_emails(gen_random_uuid(), '{}')",
    "SELECT mailqueue.claim_emails(1, 1, '1 s')",
    "SELECT mailqueue.store_batch('{}', '{}')",
    "SELECT mailqueue.retire_emails('{}', NULL, '{}', '{}', '{}', '{}')",
    "SELECT mailqueue.why(gen_random_uuid())",
    "SELECT nextval('mailqueue.claim_no_seq')",
    "UPDATE mailqueue.email_queue SET status = 'held'",
    "DELETE FROM mailqueue.email_queue",
    "TRUNCATE mailqueue.email_queue",
    "LOCK mailqueue.email_queue IN ACCESS EXCLUSIVE MODE",
    "CREATE TABLE mailqueue.mine ()",
    "CREATE FUNCTION mailqueue.mine() RETURNS integer RETURN 1",
    "CREATE TRIGGER t BEFORE INSERT ON mailqueue.email_queue FOR EACH ROW"
    " EXECUTE FUNCTION mailqueue.email_queue_accept()",
    "SET ROLE mailqueue_owner",
    "SET ROLE mailqueue_worker",
    mail(", project_id", ", gen_random_uuid()"),
    mail(", content_id, content_on", ", 1, current_date"),
    mail(", status", ", 'held'"),
    mail(", attempts", ", 5"),
    mail(", id", ", gen_random_uuid()"),
    mail(", lane_id", ", 1"),
    mail(", created_at", ", '2020-01-01'"),
    mail(", recipients", ", 9"),
    mail().replace("RETURNING id", "RETURNING recipient_email"),
    mail().replace("RETURNING id", "ON CONFLICT (id) DO UPDATE SET status = 'held'"),
)
REFUSED = {
    "mailqueue_api": (
        "SELECT smtp_password FROM mailqueue.sender_accounts",
        "SELECT * FROM mailqueue.sender_accounts",
        "SELECT * FROM mailqueue.data_keys",
        "INSERT INTO mailqueue.api_keys DEFAULT VALUES",
        "UPDATE mailqueue.api_keys SET is_test = false",
        "UPDATE mailqueue.api_keys SET revoked_at = NULL",
        "SELECT token_hash FROM mailqueue.administrators",
        "SELECT mailqueue.add_administrator('me', 'x', 'x', NULL)",
        "UPDATE mailqueue.system_settings SET value = 'off' WHERE name = 'accept_mail'",
        "SELECT mailqueue.claim_emails(1, 1, '1 s')",
        mail(),
    ),
    "mailqueue_tracking": (
        "SELECT mailqueue.why(gen_random_uuid())",
        "SELECT * FROM mailqueue.emails",
        mail(),
    ),
    "mailqueue_dba": (
        "SELECT * FROM mailqueue.email_queue",
        "SELECT * FROM mailqueue.sender_accounts",
        "SELECT * FROM mailqueue.data_keys",
        "SELECT mailqueue.cancel_emails(gen_random_uuid(), '{}')",
        "DELETE FROM mailqueue.email_history",
        mail(),
    ),
    "pg_monitor": (
        "SELECT * FROM mailqueue.emails",
        "SELECT mailqueue.uuidv7()",
    ),
}


@pytest.fixture
def shared_superuser_url(server: Server, shared_db: str) -> str:
    return server.superuser_url(urlsplit(shared_db).path[1:])


async def test_a_producer_is_refused_everything_else(shared_superuser_url: str) -> None:
    async with login(shared_superuser_url, "mailqueue_producer") as conn:
        assert await not_refused(conn, REFUSED_TO_A_PRODUCER) == []


@pytest.mark.parametrize("role", list(REFUSED))
async def test_every_role_is_refused_what_it_must_not(shared_superuser_url: str, role: str) -> None:
    async with login(shared_superuser_url, role) as conn:
        assert await not_refused(conn, REFUSED[role]) == []


async def not_refused(conn: Conn, attacks: Sequence[str]) -> list[str]:
    """Try each and roll it back; return those that were not refused for a missing right."""
    succeeded = []
    for attack in attacks:
        try:
            async with conn.transaction(force_rollback=True):
                await conn.execute(attack.encode())
            succeeded.append(attack)
        except errors.InsufficientPrivilege:
            pass
    return succeeded
