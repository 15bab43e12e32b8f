"""Follows docs/production.md on a host of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.docs.reading import blocks
from tests.rules.source import ROOT

PAGE = "docs/production.md"
STANDINS = Path(__file__).parent / "standins"
SECONDS = 900
_PROGRAMS = (
    *("pg_ctlcluster", "pgbackrest", "nginx", "prometheus", "prometheus-alertmanager"),
    *(
        "prometheus-node-exporter",
        "amtool",
        "setpriv",
        "runuser",
        "unshare",
        "ss",
        "curl",
        "openssl",
    ),
)


def lacks_production() -> str | None:
    """Return why the page cannot be followed here."""
    if os.geteuid() != 0:
        return "only root can make a host of its own"
    missing = [name for name in _PROGRAMS if shutil.which(name, path=_PATH) is None]
    if missing:
        return f"no {', '.join(missing)} here"
    if not Path("/var/lib/postgresql/15/main").exists():
        return "no cluster 15/main of Debian here"
    trial = (
        "mount -t tmpfs tmpfs /mnt && mkdir /mnt/u /mnt/w /mnt/r && mount -t overlay overlay"
        " -o lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w /mnt/r"
    )
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", trial], capture_output=True, check=False
    )
    return None if done.returncode == 0 else "no overlay can be mounted here"


_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def script() -> str:
    """Return the blocks of the page as one program that ends at the first command that fails."""
    lines = [
        "set -euo pipefail",
        "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ]
    for block in blocks("bash"):
        if block.page == PAGE:
            lines += [f"echo '== line {block.line}' >&2", block.text]
    return "\n".join(lines)


def fetch(folder: Path) -> None:
    """Put the packages that the page installs into a folder: the host has no network."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(folder)]
    locked = ["--require-hashes", "--requirement", str(ROOT / "requirements" / "runtime.txt")]
    for words in (locked, ["hatchling>=1.27"]):
        subprocess.run([*pip, *words], check=True, timeout=SECONDS)


def follow(folder: Path) -> dict[str, Any]:
    """Follow the page; return what the host was like afterwards."""
    folder.mkdir()
    (folder / "guide.sh").write_text(script())
    fetch(folder / "wheels")
    report = folder / "report.json"
    command = [
        "unshare",
        "--mount",
        "--net",
        "--pid",
        "--fork",
        "--kill-child",
        "bash",
        str(STANDINS / "host.sh"),
    ]
    with (folder / "log").open("wb") as log:
        done = subprocess.run(
            [*command, str(ROOT), sys.executable, str(folder / "guide.sh"), str(report)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False, timeout=SECONDS, cwd="/",
        )  # fmt: skip
    assert done.returncode == 0, (folder / "log").read_text("utf-8", "replace")[-6000:]
    found: dict[str, Any] = json.loads(report.read_text())
    return found
