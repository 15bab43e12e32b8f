"""The files of `deploy`, and promtool, which judges them."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import yaml

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "deploy" / "prometheus"
RULES = yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"][0]["rules"]


def dashboards() -> ModuleType:
    """Return the module that makes the dashboard."""
    path = ROOT / "deploy" / "grafana" / "make_dashboard.py"
    spec = importlib.util.spec_from_file_location("make_dashboard", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["make_dashboard"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def promtool(*words: str, text: bytes = b"") -> None:
    """Run promtool, which must find no fault."""
    done = subprocess.run(
        ["promtool", *words], input=text, capture_output=True, check=False, cwd=FOLDER
    )
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
