# One image for every part: the command decides which. PostgreSQL comes from outside, or from
# the programs in the image when none is named.
FROM python:3.13-slim

RUN useradd --system --uid 10001 --create-home mailqueue \
    && install --directory --owner=mailqueue --mode=700 /var/lib/mailqueue

WORKDIR /opt/mailqueue
COPY requirements/runtime.txt requirements/runtime.txt
RUN pip install --no-cache-dir --require-hashes --requirement requirements/runtime.txt
COPY LICENSE pyproject.toml ./
COPY sql sql
COPY mailqueue mailqueue

ENV PYTHONPATH=/opt/mailqueue \
    PYTHONUNBUFFERED=1 \
    MAILQUEUE_DATA=/var/lib/mailqueue \
    MAILQUEUE_LOG_FORMAT=json
USER mailqueue
VOLUME /var/lib/mailqueue
EXPOSE 8025 1025

ENTRYPOINT ["python", "-P", "-m", "mailqueue"]
CMD ["--help"]
