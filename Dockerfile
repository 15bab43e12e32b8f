# Not built: no container engine is where this project is tested; a test runs these steps in virtual environments.
# One image for every part: the command decides which. PostgreSQL comes from outside, or from
# the programs in the image when none is named. It runs with a read-only root where /tmp and
# /var/lib/mailqueue can be written to.

# Wheels of what is locked, and of mailqueue as pyproject.toml says. A dependency without a wheel for
# this platform would be compiled here: name its compiler in this stage alone.
FROM python:3.13-slim AS build
WORKDIR /src
COPY requirements/runtime.txt requirements/runtime.txt
RUN pip wheel --no-cache-dir --require-hashes --requirement requirements/runtime.txt --wheel-dir /wheels
COPY LICENSE README.md pyproject.toml ./
COPY sql sql
COPY mailqueue mailqueue
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
RUN groupadd --system --gid 10001 mailqueue \
    && useradd --system --uid 10001 --gid mailqueue --create-home mailqueue \
    && install --directory --owner=mailqueue --mode=700 /var/lib/mailqueue
# The wheels are mounted, not copied: the image has them once, installed.
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --no-deps /wheels/*.whl

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    MAILQUEUE_DATA=/var/lib/mailqueue \
    MAILQUEUE_LOG_FORMAT=json \
    MAILQUEUE_METRICS_PORT=9464
USER mailqueue
WORKDIR /var/lib/mailqueue
VOLUME /var/lib/mailqueue
EXPOSE 8025 1025 9464

# Every service answers at its metrics port as long as its process does; no database is asked.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=6 \
    CMD ["python", "-P", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['MAILQUEUE_METRICS_PORT'] + '/livez', timeout=4)"]

ENTRYPOINT ["python", "-P", "-m", "mailqueue"]
CMD ["--help"]
