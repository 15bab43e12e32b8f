import errno
import io
import json
import subprocess
import sys
from types import ModuleType
from unittest.mock import patch

import pytest
from structlog.testing import capture_logs

from mailqueue.settings.logs import LogFormat, LogLevel, LogSettings
from mailqueue.telemetry.log import configure_logging, get_logger, keep_private, mask
from mailqueue.telemetry.threshold import THRESHOLD
from tests.logged import forget_configuration

SAYS = """
from mailqueue.settings.logs import LogFormat, LogLevel, LogSettings
from mailqueue.telemetry.log import bound, configure_logging, get_logger

configure_logging(LogSettings(LogLevel.INFO, LogFormat.{format}))
log = get_logger("mailqueue.tried")
with bound(row_id=7):
    log.info("email.sent", recipient="annabel@example.com", subject="Hello", response_ms=184)
    log.debug("email.detail")
secret = "correct horse battery staple"
try:
    1 / 0
except ZeroDivisionError:
    log.exception("row.broke", password="hunter2")
"""


def said(log_format: str) -> tuple[str, list[str]]:
    command = [sys.executable, "-c", SAYS.format(format=log_format)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr.splitlines()


@pytest.mark.deep
def test_json_lines_go_to_standard_error_with_ids_and_without_privacies() -> None:
    output, lines = said("JSON")

    sent, broke = map(json.loads, lines)
    assert output == ""
    assert sent.pop("timestamp").endswith("Z")
    assert sent == {
        "event": "email.sent",
        "level": "info",
        "module": "mailqueue.tried",
        "recipient": "ann***@example.com",
        "response_ms": 184,
        "row_id": 7,
    }
    assert "ZeroDivisionError" in broke["exception"]
    assert "hunter2" not in str(broke)


@pytest.mark.deep
@pytest.mark.parametrize("log_format", ["JSON", "CONSOLE"])
def test_an_error_tells_where_it_was_and_not_what_variables_held(log_format: str) -> None:
    written = "\n".join(said(log_format)[1])

    assert "ZeroDivisionError" in written
    assert "battery" not in written


@pytest.mark.deep
def test_a_console_reads_the_same_facts() -> None:
    output, lines = said("CONSOLE")

    text = "\n".join(lines)
    assert output == ""
    assert "email.sent" in text
    assert "ann***@example.com" in text
    assert "Hello" not in text
    assert "email.detail" not in text


@pytest.mark.parametrize(
    ("address", "masked"),
    [
        ("annabel@example.com", "ann***@example.com"),
        ("ann@example.com", "a***@example.com"),
        ("a@b@example.com", "a***@example.com"),
        ("no address", "***"),
        ("@example.com", "***@example.com"),
    ],
)
def test_a_masked_address_keeps_three_characters_and_the_domain(address: str, masked: str) -> None:
    assert mask(address) == masked


@pytest.mark.parametrize(
    "key", ["body", "html_body", "subject", "smtp_password", "token", "api_key", "secret"]
)
def test_some_keys_are_never_written(key: str) -> None:
    assert keep_private(None, "info", {"event": "x", key: "private"}) == {"event": "x"}


@pytest.mark.parametrize("key", ["recipient", "recipients", "recipient_email", "from_address"])
def test_addresses_are_masked_under_every_name(key: str) -> None:
    line = keep_private(None, "info", {key: ["annabel@example.com"]})

    assert line == {key: ["ann***@example.com"]}


def test_a_masked_address_is_not_masked_again_and_ids_stay() -> None:
    line = {"recipient": "ann***@example.com", "email_id": "0199", "sender": "relay"}

    assert keep_private(None, "info", dict(line)) == line


def test_no_logger_keeps_what_another_test_configured() -> None:
    own = get_logger("mailqueue.tried")
    here = ModuleType("mailqueue.tried")
    here.log = own  # type: ignore[attr-defined]
    with patch.dict(sys.modules, {"mailqueue.tried": here}):
        configure_logging(LogSettings(LogLevel.ERROR, LogFormat.JSON))
        own.warning("setting.renamed")
        forget_configuration()
        with capture_logs() as lines:
            own.warning("setting.renamed")

    assert [line["event"] for line in lines] == ["setting.renamed"]


def test_a_process_that_configures_no_logging_leaves_standard_output_to_its_result(
    capsys: pytest.CaptureFixture[str],
) -> None:
    get_logger("mailqueue.tried").warning("row.late", row_id=7)

    printed = capsys.readouterr()
    assert printed.out == ""
    assert "row.late" in printed.err


def test_a_process_that_configures_no_logging_writes_no_values_of_variables_and_masks_addresses(
    capsys: pytest.CaptureFixture[str],
) -> None:
    secret = "correct horse battery staple"
    try:
        raise ValueError(len(secret))
    except ValueError:
        get_logger("mailqueue.tried").exception("row.broke", recipient="annabel@example.com")

    printed = capsys.readouterr().err
    assert "ValueError" in printed
    assert "ann***@example.com" in printed
    assert "annabel" not in printed
    assert secret not in printed


def test_a_running_process_logs_all_lines_once_told_and_those_of_its_level_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = get_logger("mailqueue.tried")
    configure_logging(LogSettings(LogLevel.WARNING, LogFormat.JSON))
    changes = list[bool]()

    def follow() -> None:
        changes.append(THRESHOLD.is_lowered)

    def write_all() -> list[str]:
        for write in (log.debug, log.info, log.warning, log.error):
            write("row.tried")
        lines = capsys.readouterr().err.splitlines()
        return [json.loads(line)["level"] for line in lines]

    THRESHOLD.follow(follow)
    try:
        assert write_all() == ["warning", "error"]
        assert (log.is_enabled_for(20), log.get_effective_level()) == (False, 30)
        THRESHOLD.lower()
        THRESHOLD.lower()
        assert (log.is_enabled_for(10), log.get_effective_level()) == (True, 10)
        assert write_all() == ["debug", "info", "warning", "error"]
    finally:
        THRESHOLD.restore()
        THRESHOLD.leave(follow)
    assert write_all() == ["warning", "error"]
    assert changes == [True, True, False]


class FullDisk(io.RawIOBase):
    """A stream whose disk is full, as /dev/full is."""

    def writable(self) -> bool:
        return True

    def write(self, _: object) -> int:
        raise OSError(errno.ENOSPC, "no space left on device")


@pytest.mark.parametrize("log_format", [LogFormat.JSON, LogFormat.CONSOLE])
@pytest.mark.parametrize("is_closed", [False, True])
def test_what_logs_goes_on_where_no_line_can_be_written(
    monkeypatch: pytest.MonkeyPatch, log_format: LogFormat, is_closed: bool
) -> None:
    disk = FullDisk()
    # Nothing is kept in a buffer: each line meets the disk.
    stream = io.TextIOWrapper(disk, write_through=True)  # type: ignore[type-var]
    monkeypatch.setattr(sys, "stderr", stream)
    configure_logging(LogSettings(LogLevel.INFO, log_format))
    log = get_logger("mailqueue.tried")
    if is_closed:
        disk.close()
    try:
        log.info("email.sent", recipient="annabel@example.com")
        try:
            raise RuntimeError("row")
        except RuntimeError:
            log.exception("row.broke")
    finally:
        forget_configuration()
