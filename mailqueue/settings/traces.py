"""Settings of the export of traces. Values and their format."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote, urlsplit

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode

from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret
from mailqueue.settings.secret_files import secret_of

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_VALUE = re.compile(r"[ -~]{0,4096}")
_HOW = "must be NAME=VALUE, separated by commas; characters of a value may be percent-encoded"


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """The collector that takes spans by OTLP over HTTP; `url` None: no spans are exported.

    `ratio` is the share, from 0 to 1, of emails without a context whose spans are exported.
    """

    url: str | None = None
    headers: Secret | None = None  # in the format of parse_headers()
    ratio: float = 0.0


def parse_headers(text: str) -> tuple[tuple[str, str], ...]:
    """Parse headers as OTEL_EXPORTER_OTLP_HEADERS has them: NAME=VALUE, separated by commas.

    Raises:
        ValueError: one is not of this form; the text repeats nothing of it.
    """
    found = []
    for word in text.split(","):
        if not word.strip():
            continue
        name, is_given, value = word.partition("=")
        name, value = name.strip(), unquote(value.strip(), errors="strict")
        if not is_given or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise ValueError(_HOW)
        found.append((name, value))
    return tuple(found)


def parse_collector(text: str) -> str:
    """Return the URL of a collector, with its path.

    Raises:
        ValueError: it is not one.
    """
    try:
        parts = urlsplit(text)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid or "@" in parts.netloc or parts.fragment or not re.fullmatch(r"[!-~]+", text):
        raise ValueError("must be a URL such as http://127.0.0.1:4318/v1/traces")
    return text


def _collector(value: object) -> object:
    return parse_collector(value) if isinstance(value, str) else value


def _headers(value: object) -> object:
    if not isinstance(value, str):
        return value
    parse_headers(value)
    return Secret(value)


class TraceVariables(BaseSettings):
    """The variables of the export of traces."""

    traces_url: Annotated[str | None, BeforeValidator(_collector)] = None
    traces_headers: Annotated[Secret | None, NoDecode, BeforeValidator(_headers)] = None
    traces_headers_file: Path | None = None
    traces_ratio: Annotated[float, Field(ge=0, le=1)] = 0.0


def traces_of(env: TraceVariables) -> TraceSettings:
    """Return the settings of the export of traces, from their variables.

    Raises:
        ConfigError: the file with headers cannot be read, or they have another format.
    """
    headers = secret_of("TRACES_HEADERS", env.traces_headers_file, env.traces_headers)
    if headers is not None:
        try:
            parse_headers(headers.reveal())
        except ValueError as exc:
            raise ConfigError(f"MAILQUEUE_TRACES_HEADERS_FILE: {exc}") from None
    return TraceSettings(env.traces_url, headers, env.traces_ratio)
