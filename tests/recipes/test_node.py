"""The JavaScript on the recipe pages queues mail in the caller's transaction."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.clients.node import HOME, run_text
from tests.recipes.shop import Shop, shown

pytestmark = pytest.mark.node_clients

_UNDONE = """
const undone = await {transaction}(async (client) => {{
  await placeOrder(client, 82, 'ann@example.com')
  throw new Error('undone')
}}).catch((error) => error.message)
const refused = await {transaction}((client) => placeOrder(client, 83, 'nobody'))
  .catch((error) => ({refusal}))
await {close}
console.log(JSON.stringify({{ id, undone, refused }}))
"""


def test_node_postgres_queues_with_its_transaction(shop: Shop) -> None:
    before = shop.counts()
    program = "\n".join(shown("node-postgres", "js")) + _UNDONE.format(
        transaction="transaction", refusal="[error.code, error.column]", close="pool.end()"
    )

    said = run_text(shop.reconnected(program))

    orders, mails = shop.counts()
    assert (orders - before[0], mails - before[1]) == (1, 1)
    assert said["undone"] == "undone"
    assert said["refused"] == ["22023", "recipient_email"]


def test_prisma_queues_with_its_interactive_transaction(shop: Shop, tmp_path: Path) -> None:
    """Only the migration engine, which is not in the packages, is missing."""
    before = shop.counts()
    generate(tmp_path, *shown("prisma", "prisma"))
    program = "\n".join(shown("prisma", "js")) + _UNDONE.format(
        transaction="prisma.$transaction",
        refusal="[error.code, error.message.includes('22023')]",
        close="prisma.$disconnect()",
    )
    program = program.replace("'./generated/index.js'", f"'{tmp_path}/generated/index.js'")
    program = program.replace("(tx, 81,", "(tx, 181,").replace("(client, 82,", "(client, 182,")

    said = run_text(shop.reconnected(program))

    orders, mails = shop.counts()
    assert (orders - before[0], mails - before[1]) == (1, 1)
    assert said["undone"] == "undone"
    assert said["refused"] == ["P2010", True]


def generate(folder: Path, schema: str) -> None:
    """Run `prisma generate` with no network."""
    (folder / "schema.prisma").write_text(schema)
    (folder / "node_modules").symlink_to(HOME / "node_modules")
    done = subprocess.run(
        ["node", "node_modules/prisma/build/index.js", "generate", "--schema", "schema.prisma"],
        cwd=folder,
        # Generating needs no migration engine; without the variable it would be downloaded.
        env={
            "PATH": os.environ["PATH"],
            "PRISMA_SCHEMA_ENGINE_BINARY": "/bin/true",
            "CHECKPOINT_DISABLE": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
