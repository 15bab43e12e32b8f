"""Mail that names a template: what is accepted, and what is stored for the worker."""

from typing import Any

import pytest
from psycopg.errors import InvalidParameterValue
from psycopg.types.json import Jsonb

from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.enqueue import NewEmail, enqueue_batch
from mailqueue.templates.accepting import choose
from mailqueue.templates.cache import TemplateCache
from mailqueue.templates.model import NewText
from tests import make
from tests.mail.enqueueing import enqueue
from tests.templates.making import published, version_of

pytestmark = pytest.mark.anyio

KEPT = """
    SELECT q.custom_data, q.category, c.template_language, c.subject, c.html_body, c.text_body
    FROM mailqueue.email_queue AS q JOIN mailqueue.email_contents AS c ON c.id = q.content_id
    WHERE q.id = %s
"""
SCHEMA = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "age": {"type": ["integer", "null"]},
    },
}


def email(**options: Any) -> NewEmail:
    said = {"template": "welcome", "variables": {"name": "Ann"}} | options
    return NewEmail("ann@example.com", None, options=said)


async def test_mail_from_a_template_keeps_its_variables_and_no_body(conn: Conn) -> None:
    project = await make.project_named(conn)
    await published(conn, project, category="onboarding")

    made = await enqueue(conn, email(custom_data={"order": 7}), project="default")

    ((custom, category, language, subject, html, text),) = await make.rows(conn, KEPT, made)
    assert custom == {"order": 7, "variables": {"name": "Ann"}}
    assert (category, language, subject) == ("onboarding", "en", "Welcome, {{ name }}")
    assert (html, text) == (None, None)


async def test_a_batch_of_one_template_shares_its_content(conn: Conn) -> None:
    project = await make.project_named(conn)
    await published(conn, project)
    names = ["Ann", "Bob", "Cy"]

    rows = await enqueue_batch(
        conn, [email(variables={"name": n}) for n in names], project="default"
    )

    assert [row.status for row in rows] == ["queued"] * 3
    found = await make.rows(
        conn, "SELECT DISTINCT content_id FROM mailqueue.email_queue WHERE project_id = %s", project
    )
    assert len(found) == 1


async def test_a_plain_insert_may_name_a_template(conn: Conn) -> None:
    project = await make.project_named(conn)
    await published(conn, project)

    made = await make.inserted(
        conn,
        "email_queue",
        {"recipient_email": "a@example.com", "template": "welcome", "variables": {"name": "A"}},
    )

    found = await make.rows(conn, KEPT, made)
    assert found[0][0] == {"variables": {"name": "A"}}


async def test_the_projects_own_template_comes_before_the_platforms(conn: Conn) -> None:
    project = await make.project_named(conn)
    await published(conn, None, words=NewText("The platform's", None, "x"))
    first = await enqueue(conn, email(), project="default")
    await published(conn, project, words=NewText("Our own", None, "x"))
    second = await enqueue(conn, email(), project="default")

    assert (await make.rows(conn, KEPT, first))[0][3] == "The platform's"
    assert (await make.rows(conn, KEPT, second))[0][3] == "Our own"


@pytest.mark.parametrize(
    ("asked", "given"),
    [("de", "de"), ("de-AT", "de"), ("pt_BR", "pt-br"), ("fr", "en"), (None, "en")],
)
async def test_a_language_there_is_not_falls_back(
    conn: Conn, asked: str | None, given: str
) -> None:
    project = await make.project_named(conn)
    words = {tag: NewText(tag or "en", None, "x") for tag in ("", "de", "pt-br")}
    await published(conn, project, words=words)

    made = await enqueue(conn, email(language=asked), project="default")
    chosen = await choose(conn, TemplateCache(), project, template="welcome", language=asked)

    assert (await make.rows(conn, KEPT, made))[0][2] == given
    assert chosen.language == given


@pytest.mark.parametrize(
    ("options", "field", "why"),
    [
        ({"template": "farewell"}, "template", 'there is no template "farewell"'),
        ({"template": "welcome@7"}, "template", '"welcome" has no version 7'),
        ({"template": "welcome@2"}, "template", 'version 2 of "welcome" is a draft: publish it'),
        ({"template": "welcome@new"}, "template", '"new" is not a version: a number, or published'),
        ({"variables": {}}, "variables", '"name" is missing'),
        ({"variables": {"name": 3}}, "variables", '"name" must be "string", got number'),
        ({"variables": {"name": "Ann", "age": 1.5}}, "variables",
         '"age" must be ["integer", "null"], got number'),
        ({"variables": []}, "variables", "an object of names and values is needed, got array"),
        ({"custom_data": {"variables": 1}}, "custom_data",
         "with a template an object is needed, without variables, which are kept there"),
        ({"variables": {"name": "Ann", "more": "x" * 70_000}}, "variables", "at most 64 KiB"),
    ],
)  # fmt: skip
async def test_what_the_template_cannot_be_sent_with_is_refused(
    conn: Conn, options: dict[str, Any], field: str, why: str
) -> None:
    project = await make.project_named(conn)
    template = await published(conn, project, variables_schema=SCHEMA)
    await version_of(conn, template)

    with pytest.raises(InvalidField) as caught:
        await enqueue(conn, email(**options), project="default")

    assert (caught.value.field, caught.value.why) == (field, why)


async def test_words_beside_a_template_and_variables_without_one_are_refused(conn: Conn) -> None:
    project = await make.project_named(conn)
    await published(conn, project)
    both = NewEmail("ann@example.com", "Mine", options={"template": "welcome"})
    none = NewEmail("ann@example.com", "Mine", text="x", options={"variables": {}})

    for one, field in ((both, "subject"), (none, "variables")):
        with pytest.raises(InvalidField) as caught:
            async with conn.transaction():
                await enqueue(conn, one, project="default")
        assert caught.value.field == field


async def test_another_projects_template_is_not_there(conn: Conn) -> None:
    await published(conn, await make.project(conn))

    with pytest.raises(InvalidField, match='there is no template "welcome"'):
        await enqueue(conn, email(), project="default")


async def test_a_version_sent_by_its_number_stays_sendable_when_another_is_published(
    conn: Conn,
) -> None:
    project = await make.project_named(conn)
    template = await published(conn, project)
    second = await version_of(conn, template, NewText("Second", None, "x"))
    await conn.execute("SELECT mailqueue.publish_template(%s)", (second.id,))

    made = await enqueue(conn, email(template="welcome@1"), project="default")

    assert (await make.rows(conn, KEPT, made))[0][3] == "Welcome, {{ name }}"


async def test_the_same_key_gives_the_same_mail_though_a_version_was_published_between(
    conn: Conn,
) -> None:
    project = await make.project_named(conn)
    template = await published(conn, project)
    first = await enqueue(conn, email(idempotency_key="k"), project="default")
    second = await version_of(conn, template, NewText("Second", None, "x"))
    await conn.execute("SELECT mailqueue.publish_template(%s)", (second.id,))

    assert await enqueue(conn, email(idempotency_key="k"), project="default") == first
    with pytest.raises(InvalidField, match="was used for another email"):
        await enqueue(
            conn, email(idempotency_key="k", variables={"name": "Bob"}), project="default"
        )


async def test_the_whole_schema_is_looked_at_before_a_batch_is_accepted(conn: Conn) -> None:
    project = await make.project_named(conn)
    await published(conn, project, variables_schema=SCHEMA)
    chosen = await choose(conn, TemplateCache(), project, template="welcome")

    chosen.check({"name": "Ann"})
    with pytest.raises(InvalidField) as caught:
        chosen.check({"name": "A"})
    assert caught.value.field == "variables.name"
    assert chosen.render({"name": "Ann"}).subject == "Welcome, Ann"


async def test_sql_alone_refuses_with_the_field(conn: Conn) -> None:
    with pytest.raises(InvalidParameterValue, match="there is no template"):
        await conn.execute(
            "SELECT mailqueue.enqueue(recipient => 'a@example.com', options => %s)",
            (Jsonb({"template": "none"}),),
        )
