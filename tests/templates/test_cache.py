"""The template versions that a worker keeps in memory."""

from uuid import UUID, uuid4

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.rendering.compiled import Compiler
from mailqueue.rendering.faults import Exceeded, TemplateFault
from mailqueue.templates.cache import MAX_STRIKES, RESTED, CachedVersion, TemplateCache
from mailqueue.templates.model import NewText, VersionSource
from tests import make
from tests.templates.making import published

pytestmark = pytest.mark.anyio

LOOPS = "{% for i in range(n) %}{% for j in range(n) %}{% endfor %}{% endfor %}ok"


def sheet(html: str) -> CachedVersion:
    return CachedVersion(Compiler(), VersionSource(uuid4(), "en", "s", html, "t", {}, None))


async def test_a_version_whose_mails_all_cost_too_much_is_not_tried_for_a_while() -> None:
    """Its mail no longer delays other mail, and it is tried again later."""
    costly = sheet(LOOPS)
    for _ in range(MAX_STRIKES):
        with pytest.raises(Exceeded, match="takes more than"):
            costly.render({"n": 9999})

    for _ in range(RESTED):
        with pytest.raises(Exceeded, match="not tried, as 5 mails before it failed"):
            costly.render({"n": 1})

    assert costly.render({"n": 1}).html == "ok"
    for _ in range(MAX_STRIKES - 1):  # one that could be rendered starts the count anew
        with pytest.raises(Exceeded, match="takes more than"):
            costly.render({"n": 9999})
    assert costly.render({"n": 1}).html == "ok"


async def test_faults_of_single_mails_put_no_version_to_rest() -> None:
    gaps = sheet("{{ name }}")

    for _ in range(MAX_STRIKES * 2):
        with pytest.raises(TemplateFault, match="the variable name is missing"):
            gaps.render({})

    assert gaps.render({"name": "Ann"}).html == "Ann"


async def test_large_versions_are_fewer(conn: Conn) -> None:
    """A worker's memory does not grow with the size of its tenants' templates."""
    project = await make.project_named(conn)
    keys = []
    for slug in ("a", "b"):
        template = await published(conn, project, slug=slug, words=NewText("s", None, "x" * 600))
        query = "SELECT id FROM mailqueue.template_versions WHERE template_id = %s"
        keys.append((await make.scalar(conn, query, template.id), "en"))
    template_cache = TemplateCache(max_characters=1000)

    first = await template_cache.fetch(conn, keys[:1])
    both = await template_cache.fetch(conn, keys)
    again = await template_cache.fetch(conn, keys[1:])

    assert len(both) == 2  # what is asked for is given, also beyond what is kept
    assert both[keys[0]] is first[keys[0]]
    kept = [again[keys[1]] is both[keys[1]]]
    kept.append((await template_cache.fetch(conn, keys[:1]))[keys[0]] is first[keys[0]])
    assert kept.count(True) <= 1


async def test_a_version_is_read_once_and_the_oldest_go(conn: Conn) -> None:
    project = await make.project_named(conn)
    ids: list[UUID] = []
    for slug in ("a", "b", "c"):
        template = await published(conn, project, slug=slug)
        ids.append(
            await make.scalar(
                conn,
                "SELECT id FROM mailqueue.template_versions WHERE template_id = %s",
                template.id,
            )
        )
    keys = [(one, "en") for one in ids]
    template_cache = TemplateCache(max_count=2)

    first = await template_cache.fetch(conn, keys[:2])
    again = await template_cache.fetch(conn, [keys[0], (uuid4(), "en")])
    await template_cache.fetch(conn, keys[2:])
    back = await template_cache.fetch(conn, keys[:2])

    assert set(first) == set(keys[:2])
    assert again == {keys[0]: first[keys[0]]}
    assert back[keys[0]] is first[keys[0]]
    assert back[keys[1]] is not first[keys[1]]
