"""The check of the certificate that SMTP submission is configured with."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from mailqueue.operations.doctor.context import CheckContext, passed, problem
from mailqueue.operations.model import CheckState, Finding
from mailqueue.smtp.server.certificate_end import end_of

NAME = "submission certificate"
SOON = timedelta(days=14)
"""Time before its end at which a certificate should have been renewed."""


async def submission_certificate(context: CheckContext) -> Finding:
    """Check that the certificate does not end within days; the listener reads a new one itself."""
    file = context.settings.submission.certificate
    if file is None:
        return passed(NAME, "none is configured here")
    return certificate_finding(file, now=datetime.now(UTC))


def certificate_finding(file: Path, *, now: datetime) -> Finding:
    """Return the finding about the certificate in a file, at a time."""
    fix = f"renew the certificate in {file}: mailqueue worker submission reads it within a minute"
    try:
        end = end_of(file)
    except (OSError, ValueError) as exc:
        return problem(NAME, f"{file} cannot be read: {exc}", fix=fix)
    if end <= now:
        return problem(NAME, f"{file} ended on {end:%Y-%m-%d}: clients refuse it", fix=fix)
    if end - now < SOON:
        says = f"{file} ends on {end:%Y-%m-%d}, in {(end - now).days} days"
        return Finding(NAME, is_ok=False, says=says, fix=fix, state=CheckState.WARNING)
    return passed(NAME, f"{file} is valid until {end:%Y-%m-%d}")
