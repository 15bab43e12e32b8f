"""The sentences about circuits that the architecture lists are those that `why` and others say."""

import re

import pytest

from mailqueue.contract.infrastructure import QueueKey
from mailqueue.db.fetch import Conn
from mailqueue.operations import queues
from tests import make
from tests.docs.reading import text_of
from tests.rules.source import ROOT
from tests.webhooks.delivering import webhook

pytestmark = pytest.mark.anyio
ROW = re.compile(r'^\| `(\w+)` \| "([^"]+)" \| "([^"]+)" \|$', re.M)
SENTENCES = {
    circuit: (of_key, of_account)
    for circuit, of_key, of_account in ROW.findall(text_of(ROOT / "docs" / "architecture.md"))
}
REASONS = {"open": "circuit", "half_open": "half_open", "resting": "limited"}
"""Why an account is blocked in each state."""
TEMPLATE = "mailqueue/console/infrastructure/templates/circuits.html"


async def state_of(conn: Conn, circuit: str) -> tuple[QueueKey, str]:
    """Bring the key of a webhook into a state; return it, and what is said of it."""
    key = str(await webhook(conn, "https://app.example.com/hooks"))
    failures, pause = (0, "10 min") if circuit == "resting" else (5, None)
    await conn.execute(
        "SELECT mailqueue.note_key('webhooks', %s, false, %s, %s::interval, 'no')",
        (key, failures, pause),
    )
    if circuit == "half_open":
        await conn.execute("UPDATE mailqueue.queue_keys SET blocked_until = now()")
        await conn.execute("SELECT mailqueue.begin_key_probe('webhooks', %s, '1 min')", (key,))
    [found] = await queues.keys(conn)
    return found, await make.scalar(
        conn, "SELECT mailqueue.key_words(k, k.key) FROM mailqueue.queue_keys AS k"
    )


def test_every_state_of_a_circuit_in_trouble_is_listed() -> None:
    assert SENTENCES.keys() == REASONS.keys()


@pytest.mark.parametrize("circuit", SENTENCES)
async def test_a_key_is_spoken_of_as_the_table_says(conn: Conn, circuit: str) -> None:
    found, words = await state_of(conn, circuit)

    assert found.circuit == circuit
    assert SENTENCES[circuit][0] in words


@pytest.mark.parametrize("circuit", SENTENCES)
async def test_an_account_is_spoken_of_as_the_table_says(conn: Conn, circuit: str) -> None:
    words = await make.scalar(conn, "SELECT mailqueue.limit_words(%s, NULL)", REASONS[circuit])

    assert SENTENCES[circuit][1] in words


@pytest.mark.parametrize("circuit", SENTENCES)
def test_the_console_says_the_same_of_a_key(circuit: str) -> None:
    template = text_of(ROOT / TEMPLATE)

    assert SENTENCES[circuit][0].removeprefix("is ") in template
