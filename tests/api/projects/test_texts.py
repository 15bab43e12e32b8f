"""Texts of public pages over `/admin/projects`: kept as given, refused by their names."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.administering import Administering, administering

pytestmark = pytest.mark.anyio


@pytest.fixture
async def admin(database: DatabaseSettings) -> AsyncIterator[Administering]:
    async with administering(database) as made:
        yield made


@pytest.mark.parametrize(
    ("texts", "field"),
    [
        ({"en": {"intro": "{project.x}"}}, "page_texts.en.intro"),
        ({"en": {"intro": 7}}, "page_texts.en.intro"),
        ({"en": {"intro": "a\x00b"}}, "page_texts"),
        ({"en": {"nothing": "x"}}, "page_texts.en.nothing"),
        ({"xx": {}}, "page_texts.xx"),
        ({"en": []}, "page_texts.en"),
        ([], "page_texts"),
    ],
)
async def test_texts_of_public_pages_are_refused_by_their_names(
    admin: Administering, texts: object, field: str
) -> None:
    made = await admin("POST", "/projects", {"slug": "hiring"}, status=201)
    path = f"/projects/{made['id']}"
    german = {"de": {"intro": "Hallo {project}"}}
    kept = await admin("PUT", path, {"page_texts": german})

    error = await admin("PUT", path, {"page_texts": texts}, status=422)
    listed = await admin("GET", "/projects?q=hiring")

    assert field in str(error)
    assert kept["page_texts"] == german
    assert (await admin("GET", path))["page_texts"] == german
    assert [one["page_texts"] for one in listed["data"]] == [None], "not in lists"
