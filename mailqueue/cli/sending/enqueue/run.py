"""Queue the lines of a file in batches, each in its own transaction, so that it can be rerun."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from mailqueue.cli.sending.enqueue.file import Line, Source, records
from mailqueue.cli.sending.enqueue.render import StoredTemplate, Templates, named, rendered
from mailqueue.cli.support.retrying import RetryingDatabase
from mailqueue.contract.sending import EnqueuedFile, Repeated
from mailqueue.contract.suppression import BadLine
from mailqueue.core.crashpoints import reach
from mailqueue.core.errors import InvalidField
from mailqueue.mail.accept.acceptance import Numbered, accept, statements_of
from mailqueue.mail.accept.log_lines import log_emails
from mailqueue.templates.cache import TemplateCache


@dataclass(frozen=True, slots=True)
class Job:
    """The emails to queue, and their idempotency keys."""

    source: Source
    words: Templates | StoredTemplate
    options: dict[str, object]
    project: str
    prefix: str  # of the idempotency keys; the line's number follows
    is_trial: bool
    template_cache: TemplateCache = field(default_factory=TemplateCache)


@dataclass(slots=True)
class Tally:
    """Counts of the lines processed so far, by outcome, and the invalid lines."""

    lines: Counter[str] = field(default_factory=Counter)
    bad: list[BadLine] = field(default_factory=list)

    def result(self, *, is_trial: bool) -> EnqueuedFile:
        """Return the counts and the invalid lines, in order."""
        return EnqueuedFile(
            queued=self.lines["queued"],
            suppressed=self.lines["suppressed"],
            there_already=self.lines["there_already"],
            bad=sorted(self.bad, key=lambda each: each.line),
            dry_run=is_trial,
        )


def key_prefix(source: Source, *words: str | None) -> str:
    """Return a prefix of idempotency keys that identifies the file and its templates."""
    digest = hashlib.sha256(source.sha256.encode())
    for part in words:
        digest.update(b"\0-" if part is None else b"\0+" + hashlib.sha256(part.encode()).digest())
    return digest.hexdigest()[:32]


async def enqueue_file(
    database: RetryingDatabase,
    job: Job,
    *,
    tally: Tally,
    tell: Callable[[BadLine], None],
    advance: Callable[[int], None],
) -> None:
    """Queue every valid line; count it in `tally` after its commit.

    `tell` is called for each invalid line, `advance` with the last line of each batch.
    """

    def refuse(bad: BadLine) -> None:
        tally.bad.append(bad)
        tell(bad)

    for batch in statements_of(_mails(job, refuse)):
        for bad in await _commit(database, job, batch, tally=tally):
            refuse(bad)
        reach("enqueue.committed")
        advance(batch[-1][0])


async def _commit(
    database: RetryingDatabase, job: Job, batch: list[Numbered], *, tally: Tally
) -> list[BadLine]:
    emails = [email for _, email in batch]
    accepting = partial(
        accept,
        emails=emails,
        project=job.project,
        is_trial=job.is_trial,
        templates=job.template_cache,
    )
    results = await database.call(accepting)
    if not job.is_trial:
        log_emails(job.project, emails, results)
    refused = []
    for (line, _), result in zip(batch, results, strict=True):
        match result:
            case InvalidField():
                refused.append(BadLine(line, result.why, result.field))
            case Repeated():
                tally.lines["there_already"] += 1
            case _ if result.status == "suppressed":
                tally.lines["suppressed"] += 1
            case _:
                tally.lines["queued"] += 1
    return refused


def _mails(job: Job, refuse: Callable[[BadLine], None]) -> Iterator[Numbered]:
    for record in records(job.source):
        made = _mail(record, job) if isinstance(record, Line) else record
        if isinstance(made, BadLine):
            refuse(made)
        else:
            yield made


def _mail(line: Line, job: Job) -> Numbered | BadLine:
    key = f"{job.prefix}:{line.number}"
    if isinstance(job.words, StoredTemplate):
        return line.number, named(line, job.words, options=job.options, key=key)
    made = rendered(line, job.words, options=job.options, key=key)
    return made if isinstance(made, BadLine) else (line.number, made)
