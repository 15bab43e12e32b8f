"""Options that read a text file in UTF-8."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from mailqueue.core.errors import InvalidField

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_ENCODING_BY_BOM = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


def text_file_option(*names: str, text: str) -> Decorator:
    """Add an option that takes a path, or `-` for standard input, and passes the file's text."""
    path = click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True)
    return click.option(*names, type=path, callback=_text, metavar="FILE", help=text)


def _text(_ctx: click.Context, _param: click.Parameter, path: str | None) -> str | None:
    if path is None:
        return None
    is_stdin = path == "-"
    try:
        content = sys.stdin.buffer.read() if is_stdin else Path(path).read_bytes()
        return decoded(content, "standard input" if is_stdin else path)
    except InvalidField as exc:
        raise click.BadParameter(exc.why) from None
    except OSError as exc:
        raise click.BadParameter(f"{path}: {exc.strerror}") from None


def decoded(content: bytes, name: str) -> str:
    """Return a file's content as text, without a byte order mark.

    Raises:
        InvalidField: field `file`; names the first byte that is not UTF-8, and the fix.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        line = content.count(b"\n", 0, exc.start) + 1
        raise not_utf8(name, line=line, byte=content[exc.start], start=content[:2]) from None


def not_utf8(name: str, *, line: int, byte: int, start: bytes) -> InvalidField:
    """Return the error text for a file that is not UTF-8; `start` holds its first bytes."""
    guess = _ENCODING_BY_BOM.get(start[:2], "LATIN1")
    return InvalidField(
        "file",
        f"{name} is not UTF-8: line {line} has byte 0x{byte:02x}; "
        f"convert it, for example with iconv -f {guess} -t UTF-8",
    )
