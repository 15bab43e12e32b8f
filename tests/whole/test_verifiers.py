"""Signatures verify behind a published server, with published verifiers."""

from dataclasses import replace
from pathlib import Path

import pytest

from mailqueue.embedded.service_user import Account
from tests.dkim.signing import opendkim_says, verdicts
from tests.whole.difficult_mails import inserts, letters
from tests.whole.postfix import DOMAIN, postfix
from tests.whole.running import Up, eventually

pytestmark = pytest.mark.timeout(300)


@pytest.mark.postfix
@pytest.mark.opendkim
@pytest.mark.parametrize("count", [100, pytest.param(5_000, marks=pytest.mark.soak)])
def test_every_mail_verifies_after_postfix_has_delivered_it(
    shared_up: Up, reachable_folder: Path, service_user: Account, tmp_path: Path, count: int
) -> None:
    project, home, user = f"signed{count}", shared_up.home, service_user.name
    mails = [
        replace(mail, to=f"{user}+{mail.to.partition('@')[0]}@{DOMAIN}")
        for mail in letters(count, DOMAIN)
    ]
    shared_up.rows("INSERT INTO mailqueue.projects (name) VALUES (%s) RETURNING id", project)
    wanted = ("example.com", "--project", project, "--algorithm", "both")
    made = home.json("dkim", "create", *wanted)["data"]
    home.json("dkim", "verify", "example.com", "--project", project, "--force")
    home.json("dkim", "require", project)
    published = {each["dns_name"]: each["dns_txt_record"] for each in made}

    with postfix(reachable_folder / project, user) as server:
        home.json(
            *("sender", "add", "--project", project, "--name", "relay", "--host", "127.0.0.1"),
            *("--port", str(server.port), "--tls", "none", "--from", "Shop <shop@example.com>"),
        )
        shared_up.psql(inserts(mails, project=project))
        eventually(lambda: len(server), lambda taken: taken >= count, seconds=120)
        arrived = server.messages()

    for message in arrived:
        found = verdicts(message, lambda name, **_: published[name.decode().rstrip(".")].encode())
        assert found == [True, True], message
    said = opendkim_says(tmp_path, arrived, published)
    assert sum("verification" in line and "succeeded" in line for line in said) == count, said
