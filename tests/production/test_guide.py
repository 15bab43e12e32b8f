"""docs/production.md, followed from the first block to the last."""

import re
from pathlib import Path

import pytest

from mailqueue.core.services.registry import SERVICES
from tests.deploy.files import RULES
from tests.production.following import PAGE, SECONDS, STANDINS, follow, script
from tests.rules.source import ROOT

TEXT = (ROOT / PAGE).read_text("utf-8")
OUTSIDE = {"0.0.0.0:80", "0.0.0.0:443"}
WITH_LISTENER_OF_ITS_OWN = {"submission", "bounces", "rabbitmq", "traces"}


@pytest.mark.soak  # minutes: packages are installed twice, and a restore is waited for
@pytest.mark.production
@pytest.mark.timeout(SECONDS + 300)
def test_the_page_leads_from_an_empty_host_to_mail_backups_and_an_upgrade(tmp_path: Path) -> None:
    found = follow(tmp_path / "host")

    assert found["relayed"] == 3  # the trial, a mail of the command, a mail by the API
    assert {one for one in found["listening"] if not one.startswith("127.0.0.1:")} <= OUTSIDE
    assert found["logins"] == ["api", "migrate", "worker"]
    assert found["mighty"] == []
    assert set(found["targets"].values()) == {"up"}
    assert found["rules"] == len(RULES)
    assert "mailqueue_backup_timestamp_seconds 1" in found["backups"]
    assert found["owners"] == {
        "/etc/mailqueue": "root 700",
        "/etc/mailqueue/master.key": "root 600",
        "/etc/pgbackrest/conf.d/passphrase.conf": "root 640",
    }
    assert found["arguments_seen"] > 100
    assert found["secrets_in_arguments"] == found["secrets_in_logs"] == 0


def test_every_unit_has_its_drop_in_with_the_login_of_its_service() -> None:
    for one in SERVICES:
        if one.unit is None:
            continue
        name = one.unit.removeprefix("mailqueue-")
        if one.name in WITH_LISTENER_OF_ITS_OWN:
            assert f"`{one.unit}`" in TEXT
        else:
            assert f"drop_in {name} {one.login} " in TEXT
            started, *changed = [line for line in TEXT.splitlines() if " mailqueue-upkeep" in line]
            assert all(line.split().count(one.unit) == 1 for line in (started, *changed))
            [restarted] = re.findall(r"^for unit in ([\w ]+); do systemctl", TEXT, re.MULTILINE)
            assert name in restarted.split()


def test_every_metrics_port_of_a_unit_is_scraped() -> None:
    ports = re.findall(r"^drop_in \w+ \w+ (\d+)$", TEXT, re.MULTILINE)

    assert len(set(ports)) == len(ports) > 1
    for port in ports:
        assert f'"127.0.0.1:{port}"' in TEXT


def test_the_page_names_each_program_that_has_a_stand_in() -> None:
    host = (STANDINS / "host.sh").read_text("utf-8")
    [sentences] = re.findall(r"`systemctl`, .*stand-ins there", TEXT, re.DOTALL)

    for name in re.findall(r">/usr/local/bin/([\w-]+)", host):
        assert f"`{name}" in sentences


def test_every_block_is_part_of_what_is_followed() -> None:
    assert TEXT.count("\n```bash\n") == script().count("echo '== line ")
    assert "```sh" not in TEXT
