"""`mailqueue verify --files` and `mailqueue doctor` find missing and damaged attachments."""

from base64 import b64encode
from pathlib import Path

from mailqueue.db.fetch import Conn
from tests import make
from tests.cli.support.invoked import Cli

PDF = b"%PDF-1.7\n" + bytes(range(256)) * 20


async def mail_with_files(conn: Conn) -> None:
    await make.sender_account(conn)
    for number in range(2):
        file = {"filename": "a.pdf", "content_type": "application/pdf"}
        content = b64encode(PDF + b"%d" % number).decode()
        await make.queued_email(conn, attachments=[{**file, "content": content}])


def test_a_file_that_is_gone_is_named_by_both(on_fresh_db: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    on_fresh_db.environment["MAILQUEUE_ATTACHMENT_STORE"] = str(folder)
    on_fresh_db.environment["MAILQUEUE_ATTACHMENT_OVER"] = "1024"
    on_fresh_db.sql(mail_with_files)
    moved = on_fresh_db("maintain", "retention")
    assert "moved 2 attachments out of the database" in moved.stdout, moved.output
    whole = on_fresh_db("verify", "--files")
    gone, _ = [path for path in folder.rglob("*-*") if path.is_file()]

    gone.unlink()

    found = on_fresh_db.json("verify", "--files", exit_code=1)
    sick = on_fresh_db.json("doctor", exit_code=1)
    assert "2 files read, 0 missing or damaged" in whole.stdout
    assert (found["adds_up"], found["files"]) == (True, 2)
    assert [gone.name in fault for fault in found["faults"]] == [True]
    [finding] = [each for each in sick["checks"] if each["name"] == "attachment files"]
    assert gone.name in finding["found"]
    assert "restore them from a backup" in finding["fix"]
    assert on_fresh_db("verify").exit_code == 0, "without being asked to it reads no file"
