"""An erased person is erased from files: of the archive, and attachments."""

import base64
import gzip
import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from mailqueue.core.errors import Unavailable
from mailqueue.mail.message.file_storage import AttachmentStorage
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.maintenance.archive import task as archive_task
from mailqueue.maintenance.context import MaintenanceContext, Stores
from mailqueue.ports.filestore import Store
from mailqueue.privacy import erasing, persons
from tests import make
from tests.mail.claim.steps import claim, settle
from tests.maintenance.old_mail import aged
from tests.privacy.erasing import erased, sent
from tests.privacy.planted_rows import ANN, in_files, naming

pytestmark = pytest.mark.anyio


async def test_archived_mail_is_erased_in_its_files(desk: MaintenanceContext, warm: Path) -> None:
    conn = desk.conn
    await sent(conn, subject="Your illness", custom_data='{"patient": 12}')
    await sent(conn, recipient_email="bob@example.com", subject="For Bob", text_body=f"see {ANN}")
    await make.queued_email(conn, recipient_email="bob@example.com", cc=[f"Ann S <{ANN}>"])
    worker = await make.worker(conn)
    await settle(conn, await claim(conn, worker), Ending.SENT, log=LogStatus.SENT)
    await aged(conn)
    await archive_task.run(desk)
    assert in_files(warm)
    before = await make.rows(conn, "SELECT kind, records FROM mailqueue.archives ORDER BY 1")

    progress = await erased(desk)

    assert progress.is_done
    assert in_files(warm) == []
    text = "\n".join(_all_lines(warm))
    assert "illness" not in text
    assert "patient" not in text
    assert "Ann S" not in text
    assert "For Bob" in text
    after = await make.rows(conn, "SELECT kind, records FROM mailqueue.archives ORDER BY 1")
    assert after == before
    assert await make.rows(conn, "SELECT * FROM mailqueue.books WHERE difference <> 0") == []
    assert (await erased(desk)).is_done


def _all_lines(folder: Path) -> list[str]:
    return [
        line
        for path in sorted(folder.rglob("*.gz"))
        for line in gzip.decompress(path.read_bytes()).decode().splitlines()
    ]


async def test_files_go_that_only_they_were_sent(desk: MaintenanceContext) -> None:
    conn = desk.conn
    await make.sender_account(conn)
    await conn.execute("UPDATE mailqueue.projects SET attachment_types = '{text/plain}'")
    for email, name in ((ANN, "hers"), (ANN, "both"), ("bob@example.com", "both")):
        octets = base64.b64encode(f"{name} about {ANN}".encode()).decode()
        files = [{"filename": f"{name}.txt", "content": octets, "content_type": "text/plain"}]
        await make.queued_email(conn, recipient_email=email, attachments=json.dumps(files))

    await erased(desk)

    left = await make.rows(
        conn, "SELECT octets, sha256 = sha256(octets) FROM mailqueue.attachments"
    )
    assert left == [(b"both about xxxxxxxxxxxxxxx", True)]


async def test_step_by_step_is_all_the_same(desk: MaintenanceContext, warm: Path) -> None:
    await sent(desk.conn, subject="Your illness")
    await aged(desk.conn)
    await archive_task.run(desk)
    for _ in range(3):
        await sent(desk.conn, subject="Your illness again")
    lend = persons.lending(desk.conn)
    project_id = await make.project_named(desk.conn)
    begun = await erasing.begin(lend, project_id, persons.spellings_of(ANN), by="tests")

    for _ in range(100):
        progress = await erasing.go_on(
            lend, begun, context=desk, by="tests", may_go_on=lambda: False
        )
        if progress.is_done:
            break

    assert progress.is_done
    await _is_gone(desk, warm)


@dataclass(slots=True)
class _Failing:
    """Stores that are unavailable from the n-th call on, until repaired."""

    stores: Stores
    left: int

    @property
    def warm(self) -> Store | None:
        return self.stores.warm

    @property
    def cold(self) -> Store | None:
        return self.stores.cold

    @property
    def attachments(self) -> AttachmentStorage:
        return self.stores.attachments

    def at(self, url: str) -> Store:
        self.left -= 1
        if self.left < 0:
            raise Unavailable("the store is away")
        return self.stores.at(url)


@pytest.mark.parametrize(
    "times", [0, 5, *(pytest.param(n, marks=pytest.mark.soak) for n in (1, 2, 3, 4, 6, 7, 8))]
)
async def test_a_store_that_was_away_is_caught_up_with(
    desk: MaintenanceContext, warm: Path, times: int
) -> None:
    await sent(desk.conn, subject="Your illness")
    await aged(desk.conn)
    await archive_task.run(desk)
    await sent(desk.conn, subject="Your illness again")
    failing = replace(desk, stores=_Failing(desk.stores, times))

    with pytest.raises(Unavailable):
        await erased(failing)
    assert (await erased(desk)).is_done

    await _is_gone(desk, warm)


async def _is_gone(desk: MaintenanceContext, warm: Path) -> None:
    assert in_files(warm) == []
    assert "illness" not in "".join(_all_lines(warm))
    assert await naming(desk.conn) == set()
    said = await make.rows(desk.conn, "SELECT DISTINCT subject FROM mailqueue.email_contents")
    assert said == [("erased",)]
