"""Phones with notifications, and requests of Twilio, signed by its own validator."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from twilio.request_validator import RequestValidator

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.calling import Calling, calling
from tests.api.support.wired import MASTER
from tests.watch import watching
from tests.watch.fake_twilio import message_id
from tests.watch.watching import ACCOUNT, AUTH_TOKEN, PHONE, PUBLIC_URL, SENDER

STATES = "SELECT status FROM mailqueue.notifications ORDER BY id"


async def prepared(conn: Conn, count: int = 1) -> list[UUID]:
    """Connect a phone and queue notifications for it; return their ids."""
    owner = await watching.user(conn)
    channel_id = await watching.phone(conn, owner)
    inbox_id = await watching.inbox(conn, owner, 1)
    return [
        await watching.queued(conn, owner, inbox_id, channel_id, number) for number in range(count)
    ]


async def until(conn: Conn, condition: str, what: str) -> None:
    async def holds() -> bool:
        return bool(await make.scalar(conn, f"SELECT {condition}"))

    await watching.wait(holds, what)


async def until_state(conn: Conn, one: UUID, state: str) -> None:
    query = "(SELECT status FROM mailqueue.notifications WHERE id = '{}') = '{}'"
    await until(conn, query.format(one, state), f"{state}: {await watching.log(conn)}")


def signed(path: str, fields: Mapping[str, str], token: str = AUTH_TOKEN) -> str:
    found: str = RequestValidator(token).compute_signature(f"{PUBLIC_URL}{path}", dict(fields))
    return found


async def tell(
    api: Calling, path: str, fields: Mapping[str, str], signature: str | None = None
) -> int:
    given = signed(path, fields) if signature is None else signature
    headers = [(b"X-Twilio-Signature", given.encode("latin-1"))]
    answer = await api.http.post(path, data=dict(fields), headers=headers)
    assert PHONE not in answer.text
    return answer.status_code


async def report_path(conn: Conn, one: UUID, project: str = "default") -> str:
    return f"/channels/whatsapp/{await make.project_named(conn, project)}/{one}"


def report(status: str, code: str = "", number: int = 1) -> dict[str, str]:
    fields = {
        "MessageSid": message_id(number),
        "MessageStatus": status,
        "AccountSid": ACCOUNT,
        "From": f"whatsapp:{SENDER}",
        "To": f"whatsapp:{PHONE}",
    }
    return fields | ({"ErrorCode": code} if code else {})


def reply(body: str, number: int, **fields: str) -> dict[str, str]:
    return {
        "MessageSid": message_id(number),
        "AccountSid": ACCOUNT,
        "From": f"whatsapp:{PHONE}",
        "To": f"whatsapp:{SENDER}",
        "Body": body,
        **fields,
    }


def listening(database: DatabaseSettings) -> Any:
    return calling(database, master_key=Secret(MASTER), public_url=PUBLIC_URL)
