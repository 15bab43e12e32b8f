"""Attachments: which are refused and why, and that equal files are stored once."""

from base64 import b64encode
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from tests import make
from tests.mail.accept.intakes import WAYS, NotAccepted, Way, plain

pytestmark = pytest.mark.anyio
PDF = b"%PDF-1.7\n" + bytes(range(256))
PNG = b"\x89PNG\r\n\x1a\n0000"


def file(**changes: Any) -> dict[str, Any]:
    """Return a small PDF as an attachment; a field that is None is left out."""
    given = {
        "filename": "a.pdf",
        "content": b64encode(PDF).decode(),
        "content_type": "application/pdf",
        **changes,
    }
    return {name: value for name, value in given.items() if value is not None}


async def taken(conn: Conn, *files: Any, project: str = "default") -> Any:
    project_id = await make.project_named(conn, project)
    query = "SELECT mailqueue.take_attachments(%s, %s, true, false)"
    return await make.scalar(conn, query, project_id, Jsonb(list(files)))


def octets(of: bytes) -> str:
    return b64encode(of).decode()


REFUSED = [
    ("text", "a list of objects is needed"),
    (file(size="1"), 'a file has no field "size"'),
    (file(filename=7), "filename of a file must be a string, got number"),
    (file(content_type=None), "a file needs filename, content and content_type"),
    (file(id="x"), "a file has an id or a content, not both"),
    ({"id": "x"}, 'there is no upload "x"'),
    ({"id": "01890a5d-ac96-774b-bcce-b302099a8057"}, "there is no upload"),
    (file(content="%%%"), 'the content of "a.pdf" is not base64'),
    (file(filename="../a.pdf"), '"../a.pdf" is not the name of a file'),
    (file(filename="a\r\nb"), "is not the name of a file"),
    (file(filename="a\u202efdp.exe"), "is not the name of a file"),
    (file(filename=" . "), "a file name has 1 to 255 bytes"),
    (file(filename="é" * 128), "a file name has 1 to 255 bytes"),
    (file(content_type="pdf"), '"pdf" is not a content type'),
    (file(content_type="text/html"), "text/html is not allowed in this project, which allows"),
    (file(content_type="image/png"), "declared as image/png, but the content is application/pdf"),
    (file(content=octets(b"MZ\x90")), "but the content is application/vnd.microsoft.portable"),
    (file(content=octets(b"hello")), "declared as application/pdf, but the content is something"),
    (file(content_id="a b"), '"a b" is not a Content-ID'),
    (file(filename="a.html"), 'a file of type application/pdf cannot be named "a.html"'),
    (file(filename="a.PDF.eXe"), "cannot be named"),
    (file(filename="a.exe. ."), "cannot be named"),
    (file(filename="a.lnk"), "cannot be named"),
    (file(filename="a.svg"), "cannot be named"),
    (file(filename="a.pdf", content_type="image/png", content=octets(PNG)), "cannot be named"),
    (file(filename="a.exe", content_type="image/png", content=octets(PNG)), "cannot be named"),
    (file(filename="a.zip"), "cannot be named"),
    (
        file(content=octets(PDF + b"x" * 4_194_304)),
        "may have at most 4194304 bytes in this project",
    ),
]


@pytest.mark.parametrize(("given", "why"), REFUSED, ids=[why[:40] for _, why in REFUSED])
async def test_a_file_that_cannot_go_is_refused_by_name(conn: Conn, given: Any, why: str) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=r"^attachments: ") as refused:
        await taken(conn, given)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    "name",
    ["bill", "Offer No. 5", "Mr. Smith", "v1.2", "a.PDF", "a.pdf. ", ".pdf", "a.exe.pdf", "é.pdf"],
)
async def test_a_name_whose_extension_says_nothing_else_is_accepted(conn: Conn, name: str) -> None:
    ((found,),) = [await taken(conn, file(filename=name))]

    assert found["name"] == name


async def test_a_project_names_programs_by_their_types(conn: Conn) -> None:
    await conn.execute(
        b"UPDATE mailqueue.projects SET attachment_types = '{application/octet-stream,"
        b"text/javascript,text/html,text/csv}' WHERE name = 'default'"
    )
    for name, kind in (
        ("a.bin", "application/octet-stream"),
        ("a.html", "text/html"),
        ("a.js", "text/javascript"),
        ("a.csv", "text/csv"),
    ):
        await taken(conn, file(filename=name, content_type=kind, content=octets(b"hello")))
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="cannot be named"):
        await taken(conn, file(filename="a.js", content_type="text/csv", content=octets(b"hello")))


async def test_an_upload_is_not_renamed_into_another_type(conn: Conn) -> None:
    (found,) = await taken(conn, file())

    with pytest.raises(psycopg.errors.InvalidParameterValue, match="cannot be named"):
        await taken(conn, {"id": found["id"], "filename": "a.html"})


async def test_a_content_id_stands_once(conn: Conn) -> None:
    one = file(filename="a.png", content=octets(PNG), content_type="image/png", content_id="<logo>")

    assert [it["cid"] for it in await taken(conn, one)] == ["logo"]
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="used twice"):
        await taken(conn, one, one)


async def test_all_files_of_a_mail_share_the_projects_size(conn: Conn) -> None:
    await conn.execute("UPDATE mailqueue.projects SET attachment_bytes = 500")

    assert len(await taken(conn, file())) == 1
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="may have at most 500 bytes"):
        await taken(conn, file(), file())


async def test_the_same_octets_are_stored_once_under_any_name(conn: Conn) -> None:
    first, second = await taken(conn, file(), file(filename="Rechnung ü.pdf"))

    assert (first["name"], second["name"]) == ("a.pdf", "Rechnung ü.pdf")
    assert first["id"] == second["id"]
    stored = "SELECT octets, bytes, sha256 = sha256(octets) FROM mailqueue.attachments"
    assert await make.rows(conn, stored) == [(PDF, len(PDF), True)]


async def test_projects_share_no_octets_and_reach_no_upload_of_another(conn: Conn) -> None:
    await make.project(conn, "other")
    (mine,) = await taken(conn, file())
    (theirs,) = await taken(conn, file(), project="other")

    assert mine["id"] != theirs["id"]
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="there is no upload"):
        await taken(conn, {"id": mine["id"], "filename": "a.pdf"}, project="other")


async def test_an_upload_of_an_earlier_month_is_kept_as_long_as_the_mail(conn: Conn) -> None:
    """Partitions are dropped by month: a mail's files must be in the partition of its month."""
    (old,) = await taken(conn, file())
    month_before = "date_trunc('month', created_on)::date - 1"
    await conn.execute(f"UPDATE mailqueue.attachments SET created_on = {month_before}".encode())

    (found,) = await taken(conn, {"id": old["id"], "filename": "b.pdf"})

    assert found["id"] == old["id"]
    days = await make.rows(conn, "SELECT created_on::text FROM mailqueue.attachments ORDER BY 1")
    assert [day for (day,) in days][1:] == [found["on"]]
    (again,) = await taken(conn, {"id": old["id"], "filename": "b.pdf"})
    assert again == found
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.attachments") == 2


async def test_a_project_says_which_types_it_allows(conn: Conn) -> None:
    docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    await conn.execute(
        "UPDATE mailqueue.projects SET attachment_types = %s WHERE name = 'default'",
        [[docx, "text/csv"]],
    )
    csv = file(content=octets(b"a,b\r\n"), content_type="text/csv", filename="a.csv")
    word = file(content=octets(b"PK\x03\x04..."), content_type=docx, filename="a.docx")

    assert [it["type"] for it in await taken(conn, csv, word)] == ["text/csv", docx]
    for refused, why in (
        (file(), "is not allowed"),
        (
            file(content=octets(b"PK\x03\x04"), content_type="text/csv"),
            "content is application/zip",
        ),
    ):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match=why):
            async with conn.transaction():
                await taken(conn, refused)


EVERY_WAY = pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
KEPT = """SELECT c.files FROM mailqueue.email_queue AS q
    JOIN mailqueue.email_contents AS c ON c.id = q.content_id WHERE q.id = %s"""


@EVERY_WAY
async def test_every_way_in_takes_files(conn: Conn, way: Way) -> None:
    email = await way(conn, **plain(attachments=[file()]))

    (kept,) = await make.scalar(conn, KEPT, email)
    assert {name: kept[name] for name in ("name", "type")} == {
        "name": "a.pdf",
        "type": "application/pdf",
    }
    assert (
        await make.scalar(
            conn, "SELECT octets FROM mailqueue.attachments WHERE id = %s", kept["id"]
        )
        == PDF
    )
    queued = "SELECT attachments FROM mailqueue.email_queue WHERE id = %s"
    assert await make.scalar(conn, queued, email) is None


@EVERY_WAY
async def test_every_way_in_refuses_a_file_by_name(conn: Conn, way: Way) -> None:
    with pytest.raises(NotAccepted, match="the content is something else"):
        await way(conn, **plain(attachments=[file(content=octets(b"hello"))]))
    shown = file(content=octets(PNG), content_type="image/png", content_id="logo")
    with pytest.raises(NotAccepted, match="there is no html that shows it"):
        await way(conn, **plain(attachments=[shown]))


@EVERY_WAY
async def test_files_belong_to_what_an_idempotency_key_stands_for(conn: Conn, way: Way) -> None:
    first = await way(conn, **plain(attachments=[file()], idempotency_key="k"))
    if way not in (WAYS["insert"], WAYS["copy"]):  # these give no id for a duplicate
        assert await way(conn, **plain(attachments=[file()], idempotency_key="k")) == first

    with pytest.raises(NotAccepted, match="was used for another email"):
        await way(conn, **plain(attachments=[file(filename="b.pdf")], idempotency_key="k"))


async def test_mails_of_a_batch_share_files_only_where_they_have_the_same(conn: Conn) -> None:
    messages = [
        {"recipient": f"p{n}@example.com", "subject": "Hi", "text": "Hi", "attachments": files}
        for n, files in enumerate([[file()], [file()], [file(filename="b.pdf")], []])
    ]
    query = "SELECT status FROM mailqueue.enqueue_batch('default', %s)"
    assert await make.rows(conn, query, Jsonb(messages)) == [("queued",)] * 4

    contents = "SELECT content_id, count(*) FROM mailqueue.email_queue GROUP BY 1 ORDER BY 2, 1"
    assert [count for _, count in await make.rows(conn, contents)] == [1, 1, 2]
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.attachments") == 1
