"""A stand-in for systemctl: starts what a unit says, in the order in which it is asked to.

It knows the units of docs/production.md. Those of mailqueue are read from their files and drop-ins:
environment, credentials, user and command; a start returns once the process has said READY=1.
"""

import os
import pwd
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

UNITS, RUN, LOGS = Path("/etc/systemd/system"), Path("/run/standin"), Path("/var/log/standin")
SECONDS = 120.0


def main(words: list[str]) -> None:
    """Do what the words after `systemctl` say."""
    verb, *names = [word for word in words if not word.startswith("--")]
    for folder in (RUN, LOGS):
        folder.mkdir(exist_ok=True)
    for name in names:
        if verb in ("stop", "restart"):
            stop(name)
        if verb in ("start", "restart", "enable"):
            start(name)
        if verb == "reload":
            subprocess.run([name, "-s", "reload"], check=True)


def start(name: str) -> None:
    """Start a unit."""
    if name.startswith("postgresql@"):
        subprocess.run(["pg_ctlcluster", *name.partition("@")[2].split("-"), "start"], check=True)
    elif name == "nginx":
        subprocess.run(["nginx"], check=True)
    elif name.startswith("mailqueue-"):
        start_ours(name)
    else:
        text = Path(f"/etc/default/{name}").read_text()
        [arguments] = shlex.split(text.partition("ARGS=")[2])
        keep(
            name,
            spawn(name, [name, *arguments.split()], user="prometheus", cwd="/var/lib/prometheus"),
        )


def stop(name: str) -> None:
    """Stop a unit, if it runs."""
    if name.startswith("postgresql@"):
        cluster = name.partition("@")[2].split("-")
        subprocess.run(["pg_ctlcluster", *cluster, "stop", "--mode=fast"], check=False)
    elif name == "nginx":
        subprocess.run(["nginx", "-s", "quit"], check=True)
    elif (path := RUN / name).exists():
        pid = int(path.read_text())
        path.unlink()
        os.kill(pid, signal.SIGTERM)
        wait(
            lambda: (
                not Path(f"/proc/{pid}/cmdline").exists()
                or not Path(f"/proc/{pid}/cmdline").read_bytes()
            )
        )


def start_ours(name: str) -> None:
    """Start a unit of mailqueue as systemd does."""
    settings = list(of(name))
    user = next(value for key, value in settings if key == "User")
    account = pwd.getpwnam(user)
    credentials = Path("/run/credentials") / f"{name}.service"
    shutil.rmtree(credentials, ignore_errors=True)
    credentials.mkdir(parents=True)
    variables = {"PATH": os.environ["PATH"], "HOME": account.pw_dir, "USER": user}
    for key, value in settings:
        if key == "LoadCredential":
            ident, _, source = value.partition(":")
            shutil.copyfile(source, credentials / ident)
            (credentials / ident).chmod(0o400)
            os.chown(credentials / ident, account.pw_uid, account.pw_gid)
        elif key == "Environment":
            variables |= dict([value.replace("%d", str(credentials)).partition("=")[::2]])
        elif key == "EnvironmentFile" and Path(value.removeprefix("-")).exists():
            lines = Path(value.removeprefix("-")).read_text().splitlines()
            variables |= dict(line.partition("=")[::2] for line in lines if "=" in line)
    os.chown(credentials, account.pw_uid, account.pw_gid)
    [command] = [value for key, value in settings if key == "ExecStart"]
    told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    told.bind(f"\0{name}-{time.monotonic_ns()}")
    told.settimeout(SECONDS)
    variables["NOTIFY_SOCKET"] = "@" + told.getsockname()[1:].decode()
    process = spawn(name, shlex.split(command), user=user, cwd="/", env=variables)
    while b"READY=1" not in told.recv(4096):
        assert process.poll() is None
    keep(name, process)


def of(name: str) -> Iterator[tuple[str, str]]:
    """Yield the settings of a unit and its drop-ins."""
    files = [UNITS / f"{name}.service", *sorted((UNITS / f"{name}.service.d").glob("*.conf"))]
    for file in files:
        for line in file.read_text().splitlines():
            if "=" in line and line[:1] not in "#[":
                key, _, value = line.partition("=")
                yield key, value


def spawn(name: str, command: list[str], **options: object) -> "subprocess.Popen[bytes]":
    """Start a process that outlives this one."""
    with (LOGS / f"{name}.log").open("ab") as log:
        return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True, extra_groups=[], group=options["user"], **options,
        )  # fmt: skip


def keep(name: str, process: "subprocess.Popen[bytes]") -> None:
    """Remember a process."""
    (RUN / name).write_text(str(process.pid))


def wait(is_done: object) -> None:
    """Wait until a process is gone."""
    until = time.monotonic() + SECONDS
    while not is_done():  # type: ignore[operator]
        if time.monotonic() > until:
            raise SystemExit("it does not stop")
        time.sleep(0.1)


if __name__ == "__main__":
    main(sys.argv[1:])
