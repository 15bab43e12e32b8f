"""Channels of WhatsApp over HTTP."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.calling import Calling, calling
from tests.api.support.wired import MASTER
from tests.rows import each_row
from tests.watch.watching import ACCOUNT, AUTH_TOKEN, PHONE, SENDER, TEMPLATE, TOKEN

pytestmark = pytest.mark.anyio
USERS, CHANNELS = "/v1/inbox-users", "/v1/channels"
CONSENT = {"source": "https://example.com/settings", "wording": "Notify me by WhatsApp"}


@pytest.fixture
async def api(database: DatabaseSettings) -> AsyncIterator[Calling]:
    async with calling(database, master_key=Secret(MASTER)) as made:
        yield made


async def new_phone(api: Calling, **fields: Any) -> dict[str, Any]:
    """Add an inbox user; return the body that connects the user's phone."""
    owner = (await api.post(USERS, {"email": "ann@example.com"})).json()["id"]
    return {
        "user_id": owner,
        "channel_type": "whatsapp",
        "phone_number": PHONE,
        "twilio_sid": ACCOUNT,
        "auth_token": AUTH_TOKEN,
        "sender_number": SENDER,
        "template_sid": TEMPLATE,
        "consent": CONSENT,
        **fields,
    }


@pytest.fixture
async def phone(api: Calling) -> dict[str, Any]:
    return await new_phone(api)


async def test_a_phone_is_connected_once_with_consent_and_its_token_is_never_shown(
    api: Calling,
) -> None:
    body = await new_phone(api)
    added = await api.post(CHANNELS, body)
    assert added.status_code == 201, added.text
    assert AUTH_TOKEN not in added.text
    found = added.json()
    assert (found["phone_number"], found["consent_source"]) == (PHONE, CONSENT["source"])
    assert found["consent_given_at"] is not None
    assert found["consent_withdrawn_at"] is None
    assert (await api.post(CHANNELS, body)).status_code == 409
    one = f"{CHANNELS}/{found['id']}"
    again = await api.post(f"{one}/reconnect", {"auth_token": AUTH_TOKEN})
    assert (again.status_code, again.json()["template_sid"]) == (200, TEMPLATE)
    wrong = await api.post(f"{one}/reconnect", {"bot_token": TOKEN})
    assert wrong.status_code == 422
    assert "bot_token" in wrong.text
    assert (await api.delete(one)).status_code == 204
    assert (await api.get(one)).json()["status"] == "disconnected"


@each_row(
    "fields, field",
    [
        ({"phone_number": "15550000002"}, "phone_number"),
        ({"phone_number": "+1555000000٢"}, "phone_number"),
        ({"phone_number": None}, "phone_number"),
        ({"sender_number": "+0550000001"}, "sender_number"),
        ({"twilio_sid": "AC" + "g" * 32}, "twilio_sid"),
        ({"twilio_sid": None}, "twilio_sid"),
        ({"template_sid": "HX" + "0" * 31 + "\n"}, "template_sid"),
        ({"auth_token": "two words of a token"}, "auth_token"),
        ({"auth_token": None}, "auth_token"),
        ({"consent": None}, "consent"),
        ({"consent": {**CONSENT, "wording": " "}}, "consent.wording"),
        ({"consent": {**CONSENT, "source": "a\nb"}}, "consent.source"),
        ({"consent": {**CONSENT, "given_at": "2999-01-01T00:00:00Z"}}, "consent.given_at"),
        ({"consent": {**CONSENT, "given_at": "2020-01-01T00:00:00"}}, "given_at"),
        ({"slack_channel_id": "C0123456789"}, "slack_channel_id"),
        ({"user_id": "0197b8f0-0000-7000-8000-000000000001"}, "user_id"),
        ({"channel_type": "slack"}, "phone_number"),
        ({"channel_type": "telegram"}, "channel_type"),
    ],
)
async def test_an_invalid_phone_is_refused_with_the_field(
    api: Calling, phone: dict[str, Any], fields: dict[str, Any], field: str
) -> None:
    refused = await api.post(CHANNELS, phone | fields)

    assert refused.status_code == 422, refused.text
    assert field in refused.text
    assert AUTH_TOKEN not in refused.text
