"""The certificate of SMTP submission is reported before it ends."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from mailqueue.api.metrics.app import CertificateCollector
from mailqueue.operations.doctor.certificates import SOON, certificate_finding
from mailqueue.operations.model import CheckState
from mailqueue.smtp.server.certificate_end import end_of
from mailqueue.smtp.server.self_signed import keep_certificate

SECOND = timedelta(seconds=1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    keep_certificate(tmp_path / "fullchain.pem")
    return tmp_path / "fullchain.pem"


@pytest.mark.parametrize(
    ("left", "state"),
    [
        (SOON, CheckState.OK),
        (SOON - SECOND, CheckState.WARNING),
        (SECOND, CheckState.WARNING),
        (timedelta(0), CheckState.ALARM),
    ],
)
def test_a_certificate_that_ends_within_two_weeks_is_a_warning_and_one_that_ended_an_alarm(
    file: Path, left: timedelta, state: CheckState
) -> None:
    found = certificate_finding(file, now=end_of(file) - left)

    assert found.state is state
    assert str(file) in found.says
    assert (found.fix is None) is (state is CheckState.OK)


@pytest.mark.parametrize("content", [None, b"", b"\0not a certificate"])
def test_a_file_without_a_certificate_is_an_alarm_and_ended_long_ago_for_prometheus(
    tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "fullchain.pem"
    if content is not None:
        file.write_bytes(content)

    assert certificate_finding(file, now=end_of_made(tmp_path)).state is CheckState.ALARM
    assert values_of(file) == [("submission", 0.0)]


def test_prometheus_reads_when_the_certificate_ends(file: Path) -> None:
    assert values_of(file) == [("submission", end_of(file).timestamp())]


def values_of(file: Path) -> list[tuple[str, float]]:
    """Return the name and the value of each sample."""
    [family] = CertificateCollector(file).collect()
    assert family.name == "mailqueue_certificate_expiry_timestamp_seconds"
    return [(sample.labels["name"], sample.value) for sample in family.samples]


def end_of_made(folder: Path) -> datetime:
    keep_certificate(folder / "made.pem")
    return end_of(folder / "made.pem")
