"""Pictures of templates over HTTP: uploaded once, listed, deleted; bad input names its field."""

from dataclasses import dataclass

import pytest

from mailqueue.db.pool import connect
from mailqueue.projects import manage
from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import Scope
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.templates.pictures import keeping
from tests import make
from tests.api.support.calling import Calling, error_of
from tests.templates.pictures.drawing import GIF, jpeg, png, png_of, stored

pytestmark = pytest.mark.anyio

PATH = "/v1/projects/default/template-pictures"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"


@dataclass(frozen=True, slots=True)
class Stored:
    """What tests compare of the rows of pictures."""

    name: str
    media_type: str


async def kept(database: DatabaseSettings) -> list[Stored]:
    async with connect(database) as conn:
        found = await keeping.list_all(conn, await make.project_named(conn))
    return [Stored(each.name, each.media_type) for each in found]


async def test_a_picture_is_uploaded_fetched_by_anyone_and_deleted(api: Calling) -> None:
    made = await api.post(f"{PATH}?name=logo.png", png(), Content_Type="image/png")
    again = await api.post(f"{PATH}?name=other.png", png(), Content_Type="text/html")
    value = made.json()
    one = f"{PATH}/{value['id']}"
    listed = (await api.get(PATH)).json()["data"]
    shown = await api.get(one)
    gone = await api.delete(one)
    twice = await api.delete(one)
    async with connect(api.database) as conn:
        noted = await make.rows(
            conn,
            "SELECT actor, action, subject FROM mailqueue.audit_events"
            " WHERE action LIKE 'template.picture%%' ORDER BY id",
        )

    assert (made.status_code, again.status_code) == (201, 201)
    assert again.json() == value
    assert {name: value[name] for name in ("name", "media_type", "bytes", "width", "height")} == {
        "name": "logo.png",
        "media_type": "image/png",
        "bytes": len(png()),
        "width": 3,
        "height": 2,
    }
    assert (listed, shown.json()) == ([value], value)
    assert (gone.status_code, twice.status_code, await kept(api.database)) == (204, 404, [])
    assert noted == [
        ("key tests", "template.picture_added", "logo.png"),
        ("key tests", "template.picture_deleted", "logo.png"),
    ]


async def test_the_url_begins_as_links_in_mail_of_the_project_do(api: Calling) -> None:
    async with connect(api.database) as conn:
        project_id = await make.project_named(conn)
        row = await keeping.find(conn, project_id, await stored(conn, project_id, GIF))
        before = keeping.value_of(row, public_url="https://mail.example.com/")
        none = keeping.value_of(row, public_url=None)
        await conn.execute(
            "UPDATE mailqueue.projects SET tracking_domain = 'links.example.com',"
            " tracking_checked_at = now() WHERE id = %s",
            (project_id,),
        )
        row = await keeping.find(conn, project_id, row.id)
        after = keeping.value_of(row, public_url="https://mail.example.com")

    assert none.url is None
    assert before.url == f"https://mail.example.com/t/p/{row.token.hex}"
    assert after.url == f"https://links.example.com/t/p/{row.token.hex}"
    assert str(project_id).replace("-", "") not in after.url


async def test_a_picture_that_is_the_logo_is_not_deleted(api: Calling) -> None:
    made = (await api.post(f"{PATH}?name=logo.png", png(), Content_Type="image/png")).json()
    async with connect(api.database) as conn:
        await manage.change(conn, "default", changes={"logo": made["id"]}, by="ann")

    refused = await api.delete(f"{PATH}/{made['id']}")

    assert refused.status_code == 409
    assert '"logo.png" is the logo of the project' in error_of(refused)["message"]
    assert await kept(api.database) == [Stored("logo.png", "image/png")]


@pytest.mark.parametrize(
    "octets", [b"", SVG, b"<html>", png()[:-1], png() + SVG, jpeg() + b"PK\3\4", png_of(2**20)[1:]]
)
async def test_what_is_no_picture_is_refused_whatever_its_type_says(
    api: Calling, octets: bytes
) -> None:
    answer = await api.post(f"{PATH}?name=logo.png", octets, Content_Type="image/png")

    assert (answer.status_code, error_of(answer)["name"]) == (422, "invalid_field")
    assert "file" in error_of(answer)["message"]
    assert await kept(api.database) == []


async def test_1_mib_is_taken_and_one_byte_more_is_not_read(api: Calling) -> None:
    taken = await api.post(f"{PATH}?name=large.png", png_of(2**20))
    refused = await api.post(f"{PATH}?name=larger.png", png_of(2**20 + 1))

    assert (taken.status_code, refused.status_code) == (201, 413)
    assert await kept(api.database) == [Stored("large.png", "image/png")]


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../../etc/passwd",
        "a%2Fb.png",
        "a%5Cb.png",
        "a%00.png",
        "a%0Db.png",
        "a%7F.png",
        "gnp%E2%80%AEexe.",
        "a%C2%85.png",
        "%C3%A9" * 128,
        "a" * 256,
    ],
)
async def test_a_name_that_is_no_file_name_is_refused(api: Calling, name: str) -> None:
    answer = await api.post(f"{PATH}?name={name}", png())

    assert answer.status_code == 422, answer.text
    assert "name" in error_of(answer)["message"]
    assert await kept(api.database) == []


async def test_another_project_neither_sees_nor_deletes_a_picture(api: Calling) -> None:
    async with connect(api.database) as conn:
        theirs = await make.project(conn, "theirs")
        picture = await stored(conn, theirs, GIF)
        own = await stored(conn, await make.project_named(conn), GIF)

    answers = [
        await api.get(f"{PATH}/{picture}"),
        await api.delete(f"{PATH}/{picture}"),
        await api.get(PATH.replace("default", "theirs")),
        await api.get(f"{PATH}/nothing"),
    ]
    listed = (await api.get(PATH)).json()["data"]
    async with connect(api.database) as conn:
        left = await keeping.find(conn, theirs, picture)

    assert [answer.status_code for answer in answers] == [404] * 4
    assert [each["id"] for each in listed] == [str(own)]
    assert left.id == picture


async def test_a_key_needs_the_scopes_of_templates_and_test_keys_only_look(api: Calling) -> None:
    async with connect(api.database) as conn:
        keys = [
            (await issue_key(conn, "default", name, is_test=is_test, scopes=scopes)).key.reveal()
            for name, is_test, scopes in (
                ("reads", False, [Scope.TEMPLATE_READ]),
                ("sends", False, [Scope.EMAIL_SEND]),
                ("tries", True, [Scope.TEMPLATE_READ, Scope.TEMPLATE_WRITE]),
            )
        ]
    read = [(await api.get(PATH, key=key)).status_code for key in keys]
    wrote = [(await api.post(f"{PATH}?name=a.png", png(), key=key)).status_code for key in keys]

    assert (read, wrote) == ([200, 403, 200], [403, 403, 403])
    assert await kept(api.database) == []


async def test_a_project_has_at_most_200_pictures_of_64_mib(api: Calling) -> None:
    many = (
        "INSERT INTO mailqueue.template_pictures (project_id, name, media_type, width, height,"
        " sha256, octets, created_by) SELECT id, 'n', 'image/png', 1, 1, sha256(n::text::bytea),"
        " decode(repeat('00', %s), 'hex'), 'tests' FROM generate_series(1, %s) AS n,"
        " mailqueue.projects WHERE name = 'default'"
    )
    async with connect(api.database) as conn:
        await conn.execute(many, (1, 199))
    last = await api.post(f"{PATH}?name=a.png", png())
    over = await api.post(f"{PATH}?name=b.png", GIF)
    known = await api.post(f"{PATH}?name=c.png", png())
    async with connect(api.database) as conn:
        await conn.execute("DELETE FROM mailqueue.template_pictures")
        await conn.execute(many, (2**20, 64))
    full = await api.post(f"{PATH}?name=d.png", png())

    assert (last.status_code, over.status_code, known.status_code) == (201, 422, 201)
    assert "there are 200 pictures, which is the most" in error_of(over)["message"]
    assert (full.status_code, "64 MiB together" in error_of(full)["message"]) == (422, True)
