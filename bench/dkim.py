"""Measures the cost of a signature, and provides the benchmarks' domain keys.

CPU of this process, body hash included: once where each mail has a body of its own, once where all
share one.
"""

import os
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import click

from bench.mails import SENDER, body
from bench.report import Report
from mailqueue.core.address import Mailbox, parse_address
from mailqueue.db.fetch import Conn
from mailqueue.dkim.keys import Algorithm, SigningKey, load_private_key, new_private_key
from mailqueue.dkim.signer import DomainSigner
from mailqueue.domains import keys, publication
from mailqueue.mime.compose import PerMail, compose, message_id
from mailqueue.mime.skeleton import MessageContent, compile_skeleton
from mailqueue.vault.masterkey import MasterKey

ALGORITHMS: dict[str, tuple[Algorithm, ...]] = {
    "rsa": (Algorithm.RSA,),
    "ed25519": (Algorithm.ED25519,),
    "both": (Algorithm.RSA, Algorithm.ED25519),
}
MASTER = MasterKey(bytes(range(32)))
DOMAIN = SENDER.partition("@")[2]
AT = 1767323045


async def give_keys(conn: Conn, kind: str) -> None:
    """Have mail of the benchmarks' sender signed; workers need MASTER to open the keys."""
    await keys.create(
        conn, "default", domain=DOMAIN, algorithms=ALGORITHMS[kind], master=MASTER, by="bench"
    )
    await publication.force(conn, "default", domain=DOMAIN, by="bench")


def messages(count: int, size: int) -> list[bytes]:
    """Compose mails as a worker does, each with a body of its own."""
    made = []
    for number in range(count):
        mail = body(number, size)
        one = PerMail(
            sender=Mailbox("Shop", parse_address(SENDER)),
            to=[Mailbox("", parse_address(f"person{number}@example.com"))],
            written_at=datetime.now(UTC),
            message_id=message_id(UUID(int=number), DOMAIN),
        )
        made.append(
            compose(compile_skeleton(MessageContent(mail.subject, mail.html, mail.text)), one)
        )
    return made


def microseconds(work: Callable[[bytes], object], mails: Sequence[bytes]) -> float:
    """Return the CPU of one call."""
    started = time.process_time()
    for mail in mails:
        work(mail)
    return 1e6 * (time.process_time() - started) / len(mails)


def signer(algorithms: Sequence[Algorithm]) -> DomainSigner:
    """Make a signer with fresh keys."""
    return DomainSigner(
        [
            SigningKey(DOMAIN, each.key_type, each, load_private_key(new_private_key(each)))
            for each in algorithms
        ]
    )


def measure(kind: str, count: int, size: int) -> dict[str, float]:
    """Measure one kind of key."""
    own, signing = messages(count, size), signer(ALGORITHMS[kind])
    shared = own[:1] * count
    raw = [
        SigningKey(DOMAIN, "raw", each, load_private_key(new_private_key(each)))
        for each in ALGORITHMS[kind]
    ]
    return {
        "a body each µs": microseconds(lambda mail: signing.sign(mail, AT), own),
        "one body µs": microseconds(lambda mail: signing.sign(mail, AT), shared),
        "of it OpenSSL µs": sum(
            microseconds(lambda _, key=key: key.sign(os.urandom(900)), own) for key in raw
        ),
    }


@click.command()
@click.option("--count", default=2_000, show_default=True, help="Mails to sign.")
@click.option("--size", default=5_000, show_default=True, help="Bytes of html and text together.")
@click.option("--repeat", default=5, show_default=True)
@click.option("--json", type=click.Path(path_type=Path), help="Write all figures here.")
def main(*, count: int, size: int, repeat: int, json: Path | None) -> None:
    """Measure what a DKIM signature costs."""
    report = Report("dkim", {"count": count, "size": size})
    for _ in range(repeat):
        for kind in ALGORITHMS:
            report.add(kind, measure(kind, count, size))
    report.print()
    report.write(json)


if __name__ == "__main__":
    main()
