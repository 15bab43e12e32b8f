"""Pictures for tests, of each format, as encoders write them."""

import struct
import zlib
from base64 import b64decode
from uuid import UUID

import httpx2

from mailqueue.db.fetch import Conn
from mailqueue.templates.pictures import keeping

GIF = b"GIF89a\x02\0\x01\0\x80\0\0\xff\xff\xff\0\0\0,\0\0\0\0\x02\0\x01\0\0\x02\x02\x04\n\0;"
WEBP = b64decode("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
WEBP_LOSSLESS = b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")


def chunk(name: bytes, data: bytes = b"") -> bytes:
    """Return a chunk of a PNG."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int = 3, height: int = 2, *, note: bytes = b"") -> bytes:
    """Return a grey PNG; with a note it has other bytes."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    data = zlib.compress((b"\0" + b"\x80" * min(width, 8)) * min(height, 8))
    said = chunk(b"tEXt", b"Comment\0" + note) if note else b""
    parts = chunk(b"IHDR", header) + said + chunk(b"IDAT", data) + chunk(b"IEND")
    return b"\x89PNG\r\n\x1a\n" + parts


def drawn(width: int, height: int) -> bytes:
    """Return a grey PNG that browsers decode completely."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    data = zlib.compress((b"\0" + b"\x80" * width) * height)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND")
    return b"\x89PNG\r\n\x1a\n" + parts


def png_of(size: int) -> bytes:
    """Return a PNG of so many bytes."""
    return png(note=b"x" * (size - len(png(note=b"x")) + 1))


def jpeg(width: int = 3, height: int = 2) -> bytes:
    """Return the segments of a JPEG with two scans, a restart marker and a stuffed byte."""
    frame = struct.pack(">BHHB", 8, height, width, 1) + b"\x01\x11\0"
    scan = b"\xff\xda\0\x08\x01\x01\0\0\x3f\0" + b"\x12\xff\x00\x34\xff\xd0\x56"
    app = b"\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
    return b"\xff\xd8" + app + b"\xff\xc2\0\x0b" + frame + scan + scan + b"\xff\xd9"


async def stored(
    conn: Conn, project_id: UUID, octets: bytes | None = None, *, name: str = "logo.png"
) -> UUID:
    """Store a picture of a project; return its id."""
    new = await keeping.received(name, png() if octets is None else octets)
    return (await keeping.add(conn, project_id, new, by="tests")).id


async def uploaded(http: httpx2.AsyncClient, key: str, base: str, name: str) -> dict[str, str]:
    """Upload a picture over HTTP; return its id as the value in paths."""
    path, headers = f"{base}/template-pictures", {"X-API-Key": key}
    answer = await http.post(path, params={"name": name}, content=png(), headers=headers)
    assert answer.status_code == 201, answer.text
    return {"picture_id": answer.json()["id"]}
