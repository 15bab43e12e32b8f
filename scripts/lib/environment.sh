# Makes the project's private Python environment; sourced by the scripts beside it.
# Everything it says goes to standard error: a script's standard output belongs to its command.

project=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
environment=$project/.venv
python=$environment/bin/python

# Another interpreter's home or another project's packages must not leak in.
unset PYTHONHOME PYTHONPATH PIP_USER PIP_TARGET PIP_PREFIX VIRTUAL_ENV
# Nor what forbids Python to keep compiled modules: each of the hundreds of processes of a run would compile anew.
unset PYTHONDONTWRITEBYTECODE

say() {
    printf '%s\n' "$*" >&2
}

give_up() {
    say "error: $*"
    exit 1
}

# Name the first Python on the PATH that is new enough.
find_python() {
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s' "$name"
            return
        fi
    done
    give_up "mailqueue needs Python 3.11 or newer; python3 here is" \
        "$(python3 --version 2>&1 || printf 'missing')"
}

# The stamp of a finished installation: where it stands, by which Python, from which list.
stamp() {
    printf '%s\n' "$environment"
    "$python" -c 'import os, sys; sys.stdout.buffer.write(os.fsencode(f"{sys.version} {sys.prefix}\n"))' 2>/dev/null ||
        printf 'broken\n'
    cat -- "$project/requirements/$1.txt"
}

is_installed() {
    local file=$environment/installed-$1
    [ -f "$file" ] && [ -x "$environment/bin/mailqueue" ] && stamp "$1" | cmp -s - "$file"
}

# Whether the project is linked in a form that every locale reads.
is_linked() {
    grep -qs '^import ' "$environment"/lib/python3*/site-packages/mailqueue-checkout.pth
}

# The number of a process that runs from the environment, if there is one.
find_user() {
    local file program
    for file in /proc/[0-9]*/cmdline; do
        program=
        { IFS= read -r -d '' program <"$file"; } 2>/dev/null || :
        case $program in
        "$environment"/bin/*)
            file=${file%/cmdline}
            printf '%s' "${file##*/}"
            return
            ;;
        esac
    done
}

make_environment() {
    local found user
    user=$(find_user)
    [ -z "$user" ] || give_up "the environment in $environment has to be made anew, and process $user runs from it:" \
        "stop that first"
    found=$(find_python) || exit 1
    "$found" -c 'import ensurepip, venv' 2>/dev/null || give_up \
        "$found lacks the module venv or ensurepip: install the package that brings them" \
        "(python3-venv on Debian and Ubuntu: apt-get install python3-venv)"
    say "making a private Python environment in $environment"
    rm -rf -- "$environment"
    "$found" -m venv -- "$environment" >&2 || give_up "python3 -m venv failed, see above"
}

# Whether the environment works and was made here, not copied or moved from elsewhere.
is_ours() {
    [ -x "$python" ] && grep -qsF -- "$environment" "$environment/bin/activate" &&
        "$python" -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

install_requirements() {
    say "installing what requirements/$1.txt lists (only when it changed)"
    "$python" -m pip install --quiet --no-input --disable-pip-version-check \
        --require-hashes --requirement "$project/requirements/$1.txt" >&2 ||
        give_up "installing failed, see above; this step needs the network once"
}

# Let the environment find the project, and give it the command, without building a package.
#
# Nothing of it depends on the locale: a .pth file with a letter that the locale lacks ends every Python of the environment.
# So it holds ASCII only, and is written by a Python that reads none (-S). Running processes may read both files meanwhile.
link_project() {
    "$python" -I -S - "$project" "$environment" <<'PYTHON'
import os
import shlex
import sys
from pathlib import Path

project, environment = sys.argv[1], Path(sys.argv[2])
packages = environment / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


def put(path: Path, text: str, mode: int) -> None:
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(os.fsencode(text))
    new.chmod(mode)
    new.replace(path)


line = f"import os, sys; sys.path.append(os.fsdecode({os.fsencode(project)!r}))\n"
put(packages / "mailqueue-checkout.pth", line, 0o644)
# A shell starts it: a path with a space cannot stand in the first line of a script.
put(
    environment / "bin" / "mailqueue",
    f"""#!/bin/sh
# -*- coding: latin-1 -*-
'''exec' {shlex.quote(f"{environment}/bin/python")} -P "$0" "$@"
' '''
import sys

from mailqueue.cli.main import main

sys.exit(main())
""",
    0o755,
)
PYTHON
}

# ensure_environment runtime|dev: afterwards .venv has all of that list and the command `mailqueue`.
ensure_environment() {
    is_linked && is_installed "$1" && return
    if command -v flock >/dev/null 2>&1; then
        exec 9<"$project/requirements"
        flock 9 # two first starts at once take turns
    fi
    if [ -x "$python" ] && [ -x "$environment/bin/mailqueue" ] && ! is_linked; then
        link_project || say "the environment in $environment cannot be linked anew"
    fi
    if ! is_installed "$1"; then
        is_ours || make_environment
        install_requirements "$1"
        link_project || give_up "the environment in $environment cannot be written"
        stamp "$1" >"$environment/installed-$1"
    fi
    exec 9<&- # the command that follows must not hold the lock
}

# ensure_node_clients: afterwards .venv/node has the published clients of tests/clients/package.json, where node and npm
# are here and the network was, once. Without them their tests are left out, and the run says so.
ensure_node_clients() {
    local wanted=$project/tests/clients/package.json there=$environment/node
    command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 || return 0
    if [ -f "$there/installed" ] && cmp -s "$wanted" "$there/installed"; then
        return 0
    fi
    say "installing what tests/clients/package.json lists (only when it changed)"
    mkdir -p -- "$there" && cp -- "$wanted" "$there/package.json" &&
        (cd -- "$there" && npm install --silent --no-package-lock --no-audit --no-fund --ignore-scripts \
            --fetch-retries=0 --fetch-timeout=60000) >&2 &&
        cp -- "$wanted" "$there/installed" ||
        say "could not install them: tests with clients of Node are left out"
}
