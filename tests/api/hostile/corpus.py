"""Published inputs that break parsers, and files of other formats than the expected one."""

import base64
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_PAYLOADS = Path(__file__).parents[2] / "payloads"


def _read(name: str, part: str) -> Any:
    return json.loads((_PAYLOADS / name).read_text("utf-8"))[part]


_SUITE = _read("json_test_suite.json", "files")
JSON_TEST_SUITE: Mapping[str, bytes] = {
    **{name: base64.b64decode(text) for name, text in _SUITE.items()},
    "n_structure_100000_opening_arrays": b"[" * 100_000,
    "n_structure_open_array_object": b'[{"":' * 50_000 + b"\n",
}
"""Files by name: `y_` is valid JSON, `n_` is not, and `i_` is up to the parser."""

NAUGHTY_STRINGS: tuple[str, ...] = tuple(
    base64.b64decode(text).decode() for text in _read("naughty_strings.json", "strings")
)


def _zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/worksheets/sheet1.xml", "<worksheet>ann@example.com</worksheet>")
    return file.getvalue()


_LIST = "email,detail\nann@example.com,Zoë\nbob@example.com,naïve\n"
FILES: Mapping[str, bytes] = {
    "empty": b"",
    "nul": b"\0",
    "many nul": bytes(100_000),
    "utf-16 with mark": _LIST.encode("utf-16"),
    "utf-16 big-endian with mark": b"\xfe\xff" + _LIST.encode("utf-16-be"),
    "utf-16 without mark": _LIST.encode("utf-16-le"),
    "utf-16 cut short": _LIST.encode("utf-16")[:-1],
    "utf-16 with a lone surrogate": b"\xff\xfe" + b"e\0m\0a\0i\0l\0\n\0\x00\xd8",
    "utf-32": _LIST.encode("utf-32"),
    "utf-8 with mark": _LIST.encode("utf-8-sig"),
    "utf-8 cut short": _LIST.encode()[:-9] + b"\xc3",
    "utf-8 with surrogates": b"email\n\xed\xa0\x80@example.com\n",
    "latin-1": _LIST.encode("latin-1"),
    "latin-1 header": b"\xe9mail\nann@example.com\n",
    "windows-1252": "email,détail\nann@example.com,“€”\n".encode("cp1252"),
    "ebcdic": _LIST.encode("cp500"),
    "shift-jis": "email,名前\nann@example.com,あん\n".encode("shift-jis"),
    "xlsx": _zipped(),
    "xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504),
    "gzip": b"\x1f\x8b\x08\x00" + bytes(range(256)),
    "pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n",
    "png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "every byte": bytes(range(256)) * 4,
    "one long line": b"a" * 1_000_000,
    "open quote": b'email\n"ann@example.com\n' + b"bob@example.com\n" * 1_000,
    "only quotes": b'"' * 9_999,
    "only commas": b"," * 100_000,
    "returns": b"email\rann@example.com\rbob@example.com\r",
    "semicolons": b"email;detail\nann@example.com;x\n",
}
