"""The package of the client alone: built from these sources, used without the server."""

import ast
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import anyio
import pytest
from packaging.requirements import Requirement

from mailqueue import __version__
from tests.api.support.calling import Calling
from tests.client.serving import served

pytestmark = [pytest.mark.anyio, pytest.mark.deep]

PROJECT = Path(__file__).parents[2]
BEGINNINGS = ("mailqueue/__init__.py", "mailqueue/client", "mailqueue/producer")
USE = """
import sys

sys.path[:0] = sys.argv[1:3]
import mailqueue
from mailqueue.client import SyncClient

with SyncClient(sys.argv[3], sys.argv[4]) as client:
    sent = client.send("ann@example.org", subject="Hello", text="Hello")
    subject = client.get(sent.id).subject
    print(sent.status, subject, mailqueue.__version__, mailqueue.enqueue.__name__)
print(" ".join(sorted({name.partition(".")[0] for name in sys.modules})))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the package as its users do."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder)]
    subprocess.run([*command, str(PROJECT / "deploy/client")], check=True, timeout=300)
    (built,) = folder.glob("*.whl")
    return built


def imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def file_of(module: str) -> Path | None:
    path = PROJECT / module.replace(".", "/")
    ways = (path.with_suffix(".py"), path / "__init__.py")
    return next((each for each in ways if each.is_file()), None)


def needed() -> set[str]:
    """Return the files that the client and `enqueue` consist of and import."""
    waiting = [
        path
        for begin in BEGINNINGS
        for path in (
            [PROJECT / begin] if begin.endswith(".py") else (PROJECT / begin).rglob("*.py")
        )
    ]
    found = set[Path]()
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        modules = [
            name for name in imported(path.read_text("utf-8")) if name.startswith("mailqueue")
        ]
        waiting += [each for name in modules if (each := file_of(name)) is not None]
        above = [each / "__init__.py" for each in path.relative_to(PROJECT).parents[:-1]]
        waiting += [PROJECT / each for each in above if (PROJECT / each).is_file()]
    return {str(path.relative_to(PROJECT)) for path in found}


def test_the_package_has_exactly_the_files_that_the_client_imports(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name}

    assert names - {"mailqueue/py.typed"} == needed()
    assert "mailqueue/py.typed" in names
    assert wheel.name == f"mailqueue_client-{__version__}-py3-none-any.whl"


async def test_the_package_sends_with_nothing_but_the_libraries_that_it_names(
    wheel: Path, shared_api: Calling, tmp_path: Path
) -> None:
    packed, libraries = tmp_path / "packed", tmp_path / "libraries"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packed)
    libraries.mkdir()
    for name in closed({"httpx2", "idna"}):
        for file in distribution(name).files or ():
            top = file.parts[0]
            if top != ".." and not (libraries / top).exists():
                (libraries / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    async with served(shared_api) as url:
        done = await anyio.run_process(
            [
                sys.executable,
                "-I",
                "-S",
                "-c",
                USE,
                str(packed),
                str(libraries),
                url,
                shared_api.key,
            ]
        )
    first, modules = done.stdout.decode().splitlines()

    assert first == f"queued Hello {__version__} enqueue"
    assert {"psycopg", "pydantic", "starlette", "click"}.isdisjoint(modules.split())


def closed(names: set[str]) -> set[str]:
    """Return packages with all that they require."""
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for text in distribution(name).requires or ():
            required = Requirement(text)
            if required.marker is None or required.marker.evaluate({"extra": ""}):
                waiting.append(required.name)
    return found
