"""Huge or deep values are refused with a reason, and other mail is accepted meanwhile."""

import json

import pytest

from mailqueue.core.errors import InvalidField
from mailqueue.db.pool import connect
from mailqueue.mail.accept.acceptance import accept, accept_one
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.calling import HELLO, calling

pytestmark = pytest.mark.anyio


def nested(depth: int) -> str:
    """Return a JSON object with that many levels."""
    return '{"a":' * depth + "1" + "}" * depth


WHOLE = json.dumps(HELLO)[:-1]
BODIES = {
    "deep object": f'{WHOLE}, "custom_data": {nested(100_000)}}}',
    "object as deep as can be": f'{WHOLE}, "custom_data": {nested(100)}}}',
    "object too deep": f'{WHOLE}, "custom_data": {nested(101)}}}',
    "deep list": f'{WHOLE}, "custom_data": {{"a": {"[" * 50_000}{"]" * 50_000}}}}}',
    "deep text": f'{WHOLE}, "custom_data": {json.dumps({"a": nested(100_000)})}}}',
    "many recipients": json.dumps(HELLO | {"cc": ["ann@example.com"] * 100_000}),
    "many headers": json.dumps(HELLO | {"headers": {f"X-{n}": "x" for n in range(50_000)}}),
    "many tags": json.dumps(HELLO | {"tags": ["t"] * 100_000}),
    "long subject": json.dumps(HELLO | {"subject": "s" * 5_000_000}),
    "long name": json.dumps(HELLO | {"to": [f'"{"n" * 1_000_000}" <ann@example.com>']}),
    "empty words": json.dumps(HELLO | {"to": ['"' * 200_000 + " <ann@example.com>"]}),
    "many quotes": json.dumps(HELLO | {"to": ['"' * 200_001 + " <ann@example.com>"]}),
    "many brackets": json.dumps(HELLO | {"to": ["<" * 200_000 + "ann@example.com>"]}),
    "many dots": json.dumps(HELLO | {"to": ["a." * 200_000 + "@example.com"]}),
    "long number": f'{WHOLE}, "max_attempts": {"9" * 5000}}}',
    "same key again": f'{WHOLE}, "subject": "Other"}}',
}
FINE = {"object as deep as can be", "same key again", "empty words"}


async def test_http_refuses_what_is_huge_or_deep_in_words(database: DatabaseSettings) -> None:
    async with calling(database) as api:
        for name, body in BODIES.items():
            answer = await api.send(body.encode(), content_type="application/json")
            wanted = (202,) if name in FINE else (400, 413, 422)
            assert answer.status_code in wanted, f"{name}: {answer.status_code} {answer.text[:300]}"
            assert len(answer.content) < 2000, name
        assert (await api.send()).status_code == 202


async def test_python_refuses_what_is_huge_or_deep_in_words(database: DatabaseSettings) -> None:
    many = {"cc": ["ann@example.com"] * 100_000}
    async with connect(database) as conn:
        for options in (many, {"headers": {f"X-{n}": "x" * 4000 for n in range(20)} | {"": "x"}}):
            email = NewEmail("ann@example.com", "s", text="t", options=options)
            with pytest.raises(InvalidField):
                await accept_one(conn, email, project="default")
            (result,) = await accept(conn, [email], project="default")
            assert isinstance(result, InvalidField)
