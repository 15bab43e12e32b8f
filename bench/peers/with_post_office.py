"""django-post-office: batches of 1,000, five threads, its own processes. It builds each message."""

import os
import sys
import tempfile
import time
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.core.management import call_command

parts = urlsplit(os.environ["DATABASE_URL"])
settings.configure(
    INSTALLED_APPS=["django.contrib.contenttypes", "post_office"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    SECRET_KEY="bench",  # noqa: S106
    USE_TZ=True,
    EMAIL_HOST="127.0.0.1",
    EMAIL_PORT=int(os.environ["SINK_PORT"]),
    POST_OFFICE={"BATCH_SIZE": 1000, "THREADS_PER_PROCESS": 5, "LOG_LEVEL": 0},
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": parts.path[1:],
            "USER": parts.username,
            "PASSWORD": parts.password,
            "HOST": parts.hostname,
            "PORT": parts.port,
        }
    },
)
django.setup()


def _fill(count: int, size: int) -> None:
    from post_office.models import PRIORITY, STATUS, Email

    call_command("migrate", verbosity=0)
    line = "Item: a plain description of what was ordered, one line of it.\n"
    text = (line * (size // len(line) + 1))[:size]
    mails = [
        Email(
            from_email="sender@example.com",
            to=[f"person{n}@example.com"],
            subject=f"Your order {n}",
            message=text[: size // 6],
            html_message=text[size // 6 :],
            status=STATUS.queued,
            priority=PRIORITY.medium,
        )
        for n in range(count)
    ]
    Email.objects.bulk_create(mails, batch_size=1000)


def _work(processes: int) -> None:
    print(f"first {time.time()}", flush=True)  # noqa: T201
    with tempfile.TemporaryDirectory() as folder:
        call_command(
            "send_queued_mail", processes=processes, log_level=0, lockfile=f"{folder}/lock"
        )


if __name__ == "__main__":
    if sys.argv[1] == "fill":
        _fill(int(sys.argv[2]), int(sys.argv[3]))
    else:
        _work(int(sys.argv[2]))
