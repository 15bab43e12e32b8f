"""Error lines of invalid environment variables. Pure."""

from pydantic import ValidationError

_SECRETS = ("key", "key_previous", "password", "secret", "url", "headers", "command")
"""Endings of the names of variables whose values are not repeated."""


def faults_of(exc: ValidationError) -> list[str]:
    """Return one error line for each invalid variable."""
    return [_fault(str(error["loc"][0]), error["msg"], error["input"]) for error in exc.errors()]


def _fault(field: str, message: str, value: object) -> str:
    variable = field if field.isupper() else f"MAILQUEUE_{field.upper()}"
    allowed = message.removeprefix("Value error, ").replace("Input should be", "must be")
    is_secret = field.lower().endswith(_SECRETS)
    return f"{variable}: {allowed}" if is_secret else f"{variable}: {allowed}, got {value!r}"
