"""The queries for psql run, with the rights of a DBA."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.conftest import Server
from tests.rules.logins import login

pytestmark = pytest.mark.anyio

SQL = Path(__file__).parents[2] / "sql"
QUESTIONS = {path.name: path.read_text("utf-8") for path in (SQL / "inspect").glob("*.sql")}


@pytest.mark.parametrize("name", sorted(QUESTIONS))
async def test_a_dba_may_ask_it(server: Server, shared_db: str, name: str) -> None:
    assert QUESTIONS[name].startswith("-- ")
    async with login(server.superuser_url(urlsplit(shared_db).path[1:]), "mailqueue_dba") as conn:
        await conn.execute(QUESTIONS[name].encode())


def test_the_readme_names_every_role_and_only_questions_there_are() -> None:
    readme = (SQL / "README.md").read_text("utf-8")

    named = {word.split("`")[0] for word in readme.split("`inspect/")[1:]}
    assert named - {""} <= set(QUESTIONS)
    for role in ("producer", "worker", "api", "tracking", "dba", "migrator", "owner"):
        assert f"`mailqueue_{role}`" in readme
