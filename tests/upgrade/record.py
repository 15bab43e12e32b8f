"""Records the statements of a release: `python -m tests.upgrade.record URL`.

What workers, API and producers say, on a database migrated by it: the next is held to it.
"""

import json
import shutil
import sys
from dataclasses import asdict

from mailqueue.db.sql import read_statements, sql_folder
from tests.upgrade.answers import ANSWERS, RECORDED, answers

# Not those of commands: they look at the schema first and refuse one they do not know.
SPOKEN_BY_WHAT_RUNS_ON = (
    *("mail/send", "mail/enqueue", "mail/retry_schedule", "queue", "emails/api", "trap"),
    *("projects/projects", "senders/accounts", "senders/rates", "vault"),
)


def record(url: str) -> None:
    """Copy the statements, and record the types the server reports for each."""
    RECORDED.mkdir(exist_ok=True)
    for name in SPOKEN_BY_WHAT_RUNS_ON:
        recorded = RECORDED / f"{name.replace('/', '_')}.sql"
        shutil.copy(sql_folder() / "queries" / f"{name}.sql", recorded)
    found = answers(url, read_statements(RECORDED).values())
    document = {name: asdict(answer) for name, answer in sorted(found.items())}
    ANSWERS.write_text(json.dumps(document, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    record(sys.argv[1])
