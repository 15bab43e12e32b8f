"""A Postfix that relays all its mail to the submission server."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.submission.programs import RunningSubmission, documented_lines
from tests.whole.postfix import make_home, relay
from tests.whole.running import eventually


@contextmanager
def relaying(home: Path, smtp: RunningSubmission) -> Iterator[int]:
    """Run a Postfix before the server; yield its port."""
    make_home(home)
    certificate = home / "ca.pem"  # its own user reads it
    certificate.write_text(smtp.certificate.read_text().partition("-----BEGIN PRIVATE")[0])
    documented = (
        documented_lines("ini", holding="relayhost")
        .replace("2587", str(smtp.port))
        .replace("mq_live_…", smtp.key)
        .replace("/etc/postfix/submission.pem", str(certificate))
    )
    with relay(home, name="relay.example.com", documented=documented) as port:
        yield port


def is_empty(home: Path) -> bool:
    """Return whether Postfix has relayed everything."""
    queue = home / "queue"
    return not any(
        path.is_file()
        for part in ("incoming", "active", "deferred", "maildrop")
        for path in (queue / part).rglob("*")
    )


def handed_on(home: Path) -> None:
    """Wait until Postfix has relayed everything."""
    eventually(lambda: is_empty(home))
