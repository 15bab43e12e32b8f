"""Files through the API: in the body or by upload, stored as rows or in a folder."""

import hashlib
from base64 import b64encode
from collections.abc import AsyncIterator
from email import message_from_bytes
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.api.support.calling import HELLO, Calling, calling, error_of
from tests.maintenance import stored_mail

pytestmark = pytest.mark.anyio
PDF = b"%PDF-1.7\n" + bytes(range(256)) * 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "files"


@pytest.fixture
async def api(database: DatabaseSettings, folder: Path) -> AsyncIterator[Calling]:
    async with calling(database, attachment_store=str(folder), attachment_over=1024) as made:
        yield made


def inline(octets: bytes = PDF, **changes: Any) -> dict[str, Any]:
    return {
        "filename": "Rechnung ü.pdf",
        "content_type": "application/pdf",
        "content": b64encode(octets).decode(),
        **changes,
    }


def stored(folder: Path) -> list[bytes]:
    found = folder.rglob("*") if folder.is_dir() else iter(())
    return [path.read_bytes() for path in found if path.is_file()]


async def uploaded(api: Calling, octets: bytes = PDF, **of: str) -> Any:
    path = f"/v1/attachments?filename={of.get('name', 'bill.pdf')}"
    return await api.post(path, octets, Content_Type=of.get("type", "application/pdf"))


async def source(api: Calling, email: str) -> list[tuple[str | None, Any]]:
    answer = await api.get(f"/v1/emails/{email}/source")
    assert answer.headers["content-type"].startswith("message/rfc822")
    parts = message_from_bytes(answer.content).walk()
    return [
        (part.get_filename(), part.get_payload(decode=True))
        for part in parts
        if part.get_filename()
    ]


async def rows_and_places(api: Calling) -> list[tuple[bool, bool]]:
    async with connect(api.database) as conn:
        query = "SELECT octets IS NULL, location IS NULL FROM mailqueue.attachments ORDER BY bytes"
        return await make.rows(conn, query)


async def test_files_of_a_body_arrive_whole_wherever_they_lie(api: Calling, folder: Path) -> None:
    small = b"%PDF-1.7 small"
    body = {**HELLO, "attachments": [inline(), inline(small, filename="small.pdf")]}

    sent = await api.send(body)

    assert sent.status_code == 202, sent.text
    found = await source(api, sent.json()["id"])
    assert [(name, octets) for name, octets in found] == [
        ("Rechnung ü.pdf", PDF),
        ("small.pdf", small),
    ]
    assert await rows_and_places(api) == [(False, True), (True, False)]
    assert stored(folder) == [PDF]


async def test_the_same_request_is_accepted_once_though_its_file_lies_elsewhere(
    api: Calling, folder: Path
) -> None:
    body = {**HELLO, "attachments": [inline()]}

    answers = [await api.send(body, Idempotency_Key="bill-1") for _ in range(2)]
    other = await api.send({**HELLO, "attachments": [inline(PDF + b"x")]}, Idempotency_Key="bill-1")

    assert answers[0].json() == answers[1].json()
    assert other.status_code == 422
    assert stored(folder).count(PDF) == 1


async def test_an_upload_is_sent_by_its_id_under_any_name(api: Calling) -> None:
    first, again = await uploaded(api), await uploaded(api)

    assert first.status_code == 201, first.text
    assert first.json() == again.json()
    assert first.json() == {
        "id": first.json()["id"],
        "filename": "bill.pdf",
        "content_type": "application/pdf",
        "bytes": len(PDF),
        "sha256": hashlib.sha256(PDF).hexdigest(),
    }
    found = {"id": first.json()["id"]}
    body = {**HELLO, "attachments": [found, {**found, "filename": "other.pdf"}]}
    sent = await api.send(body)
    assert await source(api, sent.json()["id"]) == [("bill.pdf", PDF), ("other.pdf", PDF)]


async def test_an_upload_that_cannot_be_sent_is_refused(api: Calling, folder: Path) -> None:
    for of, octets, status, field in [
        ({"type": "text/html"}, b"<p>", 422, "attachments"),
        ({"type": "image/png"}, PDF, 422, "attachments"),
        ({"name": "..%2Fa.pdf"}, PDF, 422, "attachments"),
        ({"name": ""}, PDF, 422, "filename"),
        ({"type": ""}, PDF, 415, None),
        ({}, PDF * 1000, 422, "attachments"),
        ({}, b"x" * 26_300_000, 413, None),
    ]:
        refused = await uploaded(api, octets, **of)

        assert refused.status_code == status, refused.text
        assert error_of(refused).get("field") == field
        assert await rows_and_places(api) == []
        assert stored(folder) == []


async def test_uploads_of_another_project_are_not_there(api: Calling) -> None:
    found = (await uploaded(api)).json()["id"]
    async with connect(api.database) as conn:
        await make.project(conn, "other")
        other = (await issue_key(conn, "other", "web", is_test=False)).key.reveal()

    for given in (found, str(uuid4()), "x"):
        refused = await api.send({**HELLO, "attachments": [{"id": given}]}, X_API_Key=other)
        assert (refused.status_code, error_of(refused)["field"]) == (422, "attachments")


async def test_a_place_that_is_away_refuses_for_now_and_keeps_nothing(
    api: Calling, folder: Path
) -> None:
    stored_mail.spoil(folder)

    refused = await api.send({**HELLO, "attachments": [inline()]})

    assert refused.status_code == 503
    assert "Retry-After" in refused.headers
    assert await rows_and_places(api) == []
