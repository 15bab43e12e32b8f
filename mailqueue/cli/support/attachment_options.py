"""Attachment options of the command line, in the form SQL's enqueue() takes."""

import mimetypes
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

UNKNOWN_TYPE = "application/octet-stream"


def attachment_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add attachment options; the command receives the lists `attached` and `shown`."""
    attach = click.option(
        "--attach",
        "attached",
        multiple=True,
        metavar="FILE",
        callback=lambda _ctx, _param, values: [_file(path) for path in values],
        help="File to attach; may be repeated.",
    )
    inline = click.option(
        "--inline",
        "shown",
        multiple=True,
        metavar="CID=FILE",
        callback=lambda _ctx, _param, values: [_shown(one) for one in values],
        help="Image that the HTML body shows as cid:CID; may be repeated.",
    )
    return attach(inline(command))


def _file(name: str) -> dict[str, str]:
    path = Path(name)
    try:
        octets = path.read_bytes()
    except OSError as exc:
        raise click.BadParameter(f"{name}: {(exc.strerror or str(exc)).lower()}") from exc
    return {
        "filename": path.name,
        "content_type": mimetypes.guess_type(path.name)[0] or UNKNOWN_TYPE,
        "content": b64encode(octets).decode(),
    }


def _shown(text: str) -> dict[str, str]:
    content_id, mark, path = text.partition("=")
    if not mark or not content_id:
        raise click.BadParameter(f"must be CID=FILE, got {text}")
    return {**_file(path), "content_id": content_id}
