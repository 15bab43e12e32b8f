"""Runs a script with the published clients of Node, where they are installed."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HOME = Path(sys.prefix) / "node"
HERE = Path(__file__).parent
WAIT_SECONDS = 600
LEAST_NODE = 20


def lacks_node_clients() -> str | None:
    """Return what is missing."""
    if shutil.which("node") is None:
        return "no node here"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False)
    if int(version.stdout.strip().lstrip("v").partition(".")[0] or 0) < LEAST_NODE:
        return f"node is older than {LEAST_NODE} here"
    wanted, installed = HERE / "package.json", HOME / "installed"
    if not installed.exists() or installed.read_bytes() != wanted.read_bytes():
        return "the clients of tests/clients/package.json are not installed: scripts/test does it"
    return None


def run_node(script: Path, **environment: str) -> Any:
    """Run a module; return what it printed, as JSON."""
    return run_text(script.read_text("utf-8"), **environment)


def run_text(program: str, **environment: str) -> Any:
    """Run the text of a module; return what it printed, as JSON."""
    return json.loads(printed_by(program, **environment))


def printed_by(program: str, *given: str, **environment: str) -> str:
    """Run the text of a module with arguments; return what it printed."""
    done = subprocess.run(
        ["node", "--input-type=module", "-", *given],
        input=program,
        cwd=HOME,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
