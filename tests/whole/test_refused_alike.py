"""An email that breaks a rule is refused for the same reason by every interface."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from mailqueue.cli.main import main
from mailqueue.core.errors import InvalidField
from mailqueue.db.pool import connect
from mailqueue.mail.accept.acceptance import accept_one
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.calling import HELLO, Calling, calling

pytestmark = pytest.mark.anyio

LONG = "x" * 300


class Case(NamedTuple):
    """One broken rule, in the format of each interface; `of_all`: a batch has it once for all."""

    field: str  # of POST /v1/send
    recipient: str = "ann@example.com"
    options: Mapping[str, Any] = MappingProxyType({})
    body: Mapping[str, Any] = MappingProxyType({})
    flags: tuple[str, ...] = ()
    of_all: bool = True


CASES = (
    Case("to", recipient="nobody@", of_all=False),
    Case("to", recipient="ann@example.com\x01", of_all=False),
    Case("from_email", options={"from_email": "shop"}, flags=("--from", "shop")),
    Case(
        "smtp_config_id",
        options={"sender": "nowhere"},
        body={"smtp_config_id": "nowhere"},
        flags=("--sender", "nowhere"),
    ),
    Case("tags", options={"tags": [LONG]}, flags=("--tag", LONG)),
    Case("category", options={"category": "No Such"}, flags=("--category", "No Such")),
    Case("campaign_id", options={"campaign_id": LONG}, flags=("--campaign-id", LONG)),
    Case("headers", options={"headers": {"Bcc": "x"}}, flags=("--header", "Bcc: x")),
    Case(
        "expires_at",
        options={"expires_at": "2001-01-01T00:00:00+00:00"},
        flags=("--expires-at", "2001-01-01T00:00:00+00:00"),
    ),
)


async def test_every_way_in_gives_the_same_reason(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with calling(database) as api, connect(database) as conn:
        for case in CASES:
            email = NewEmail(case.recipient, "Hello", text="Hello", options=case.options)
            with pytest.raises(InvalidField) as caught:
                await accept_one(conn, email, project="default")
            why = caught.value.why

            alone = HELLO | {"to": [case.recipient]} | dict(case.body or case.options)
            for body in (alone, alone | {"idempotency_key": "k"}):
                await refused(api, body, f"{case.field}: {why}")
            await refused_in_batch(api, case, why)
            for words in (("send", "--to", case.recipient, "--subject", "x"), ("enqueue", "-")):
                said = await asyncio.to_thread(commanded, database, tmp_path, case, words)
                assert why in said, f"{case}: {said}"


async def refused(api: Calling, body: dict[str, Any], message: str) -> None:
    answer = await api.send(body)

    assert (answer.status_code, answer.json()["message"]) == (422, message)


async def refused_in_batch(api: Calling, case: Case, why: str) -> None:
    words = {name: HELLO[name] for name in ("subject", "text_body")}
    options = case.body or case.options
    body = {**words, **options, "recipients": [{"email": case.recipient}]}
    answer = await api.post("/v1/send/batch", body)

    if case.of_all:
        assert (answer.status_code, answer.json()["message"]) == (422, f"{case.field}: {why}")
        return
    assert answer.status_code == 202, answer.text
    assert answer.json()["results"][0]["reason"] == f"email: {why}"
    strict = await api.post("/v1/send/batch", body | {"mode": "strict"})
    [violation] = strict.json()["violations"]
    assert violation == {"field": "recipients.0.email", "message": why}


def commanded(database: DatabaseSettings, folder: Path, case: Case, words: tuple[str, ...]) -> str:
    """Return the error of a command for an email that it does not queue."""
    template = folder / "hello.txt"
    template.write_text("Hello")
    content = ("--subject", "x", "--text-template-file", str(template))
    given = ("--text", "Hello") if words[0] == "send" else content
    runner = CliRunner(
        env={"MAILQUEUE_DATABASE_URL": database.url.reveal(), "MAILQUEUE_DATA": str(folder)}
    )
    people = f'email\n"{case.recipient}"\n'
    result = runner.invoke(main, (*words, *given, *case.flags), input=people)

    assert result.exit_code == 1, result.output
    return result.output
