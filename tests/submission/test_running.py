"""Certificates, ports and rights that a submission server needs, and its errors without them."""

import os
import smtplib
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from mailqueue.cli.main import main
from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect, open_pool
from mailqueue.projects.keys.manage import issue_key
from mailqueue.settings.environment import DatabaseSettings, load_settings
from mailqueue.settings.submission import DEFAULT_PORT, SubmissionSettings
from mailqueue.smtp.server.self_signed import keep_certificate
from mailqueue.submission.certificates import FILE_NAME, certificate_of
from mailqueue.submission.server import submission_beside, submission_server
from tests import make
from tests.conftest import Server
from tests.rules.logins import login
from tests.submission.programs import RunningSubmission, beside, handed_in, settings_for

pytestmark = pytest.mark.anyio
PLAIN = b"From: shop@example.com\r\nSubject: Hi\r\n\r\nHello\r\n"


def test_a_certificate_of_this_machine_is_made_once(tmp_path: Path) -> None:
    data = tmp_path / "not" / "there"
    certificate_of(SubmissionSettings(), data)
    first = (data / FILE_NAME).read_bytes()

    certificate_of(SubmissionSettings(host="::1"), data)

    assert (data / FILE_NAME).read_bytes() == first
    assert (data / FILE_NAME).stat().st_mode & 0o777 == 0o600
    (data / FILE_NAME).write_bytes(b"torn")
    keep_certificate(data / FILE_NAME)
    assert (data / FILE_NAME).read_bytes().startswith(b"-----BEGIN CERTIFICATE-----")


def test_a_renewed_certificate_counts_and_a_broken_one_does_not(tmp_path: Path) -> None:
    file = tmp_path / "one.pem"
    keep_certificate(file)
    found = certificate_of(SubmissionSettings(certificate=file), tmp_path)
    before = found.context
    file.write_text("broken")
    os.utime(file, (1, 1))
    found.look()
    found.look()
    file.unlink()
    found.look()
    keep_certificate(file)
    os.utime(file, (time.time(), 2))
    found.look()

    assert found.context is before


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (SubmissionSettings(host="0.0.0.0"), "must be set if other hosts"),
        (SubmissionSettings(host="192.0.2.1"), "must be set if other hosts"),
        (SubmissionSettings(certificate=Path("/nowhere.pem")), "/nowhere.pem cannot be used"),
        (SubmissionSettings(certificate=Path(__file__)), "cannot be used"),
        (SubmissionSettings(certificate_key=Path("/k")), "required with"),
    ],
)
def test_without_a_usable_certificate_nothing_is_served(
    settings: SubmissionSettings, why: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=why):
        certificate_of(settings, tmp_path)


def test_the_command_names_the_variable(tmp_path: Path, module_db: str) -> None:
    done = CliRunner().invoke(
        main,
        ["worker", "submission", "--host", "0.0.0.0", "--data", str(tmp_path)],
        env={"MAILQUEUE_DATABASE_URL": module_db},
    )

    assert done.exit_code == 4
    assert "MAILQUEUE_SUBMISSION_CERTIFICATE" in done.output


async def test_a_default_port_in_use_is_reported_and_left_out(
    module_db: str, tmp_path: Path
) -> None:
    said: list[str] = []
    usual = load_settings(database_url=module_db, data=tmp_path)
    chosen = load_settings(database_url=module_db, data=tmp_path, submission_port=DEFAULT_PORT)
    off = load_settings(database_url=module_db, data=tmp_path, no_submission=True)
    async with open_pool(usual.database) as pool:
        async with submission_beside(usual, pool, say=said.append) as first:
            async with submission_beside(usual, pool, say=said.append) as second:
                assert second is None
            assert said[-1].endswith("choose another, or 0 for a free one")
            assert str(DEFAULT_PORT) in said[-1]
            assert first is None or first.port == DEFAULT_PORT
            with pytest.raises(ConfigError, match="the port is in use"):
                async with submission_server(chosen, pool):
                    pass
        async with submission_beside(off, pool, say=said.append) as nothing:
            assert nothing is None


async def test_the_role_of_the_api_is_enough(
    server: Server, module_db: str, tmp_path: Path
) -> None:
    name = module_db.rpartition("/")[2]
    async with connect(DatabaseSettings(Secret(module_db))) as owner:
        await make.sender_account(owner)
        key = await issue_key(owner, "default", "role", is_test=False, requests_per_second=100)
        async with login(server.superuser_url(name), "mailqueue_api") as conn:
            url = conn.info.dsn + f" password={conn.info.password}"
            settings = settings_for(url, tmp_path)
            async with (
                open_pool(settings.database) as pool,
                submission_server(settings, pool) as running,
            ):
                own = RunningSubmission(running.port, 0, key.key.reveal(), tmp_path / FILE_NAME)
                client = await beside(own.client)
                email_id = await beside(handed_in, client, PLAIN)
                client.close()
        assert await make.status_of(owner, email_id) == "pending"


async def test_a_client_in_the_middle_of_a_message_is_told_to_come_again(
    module_db: str, database: Conn, tmp_path: Path
) -> None:
    settings = settings_for(module_db, tmp_path)
    key = await issue_key(database, "default", "middle", is_test=False)

    def begin(own: RunningSubmission) -> smtplib.SMTP:
        client = own.client()
        client.mail("a@example.com")
        client.rcpt("ann@example.com")
        assert client.docmd("DATA")[0] == 354
        client.send(PLAIN)
        return client

    async with (
        open_pool(settings.database) as pool,
        submission_server(settings, pool) as running,
    ):
        own = RunningSubmission(running.port, 0, key.key.reveal(), tmp_path / FILE_NAME)
        client = await beside(begin, own)

    assert await beside(client.getreply) == (421, b"4.3.2 shutting down, try again later")
    client.close()
