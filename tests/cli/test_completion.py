"""`mailqueue completion`: the scripts work in the shells themselves."""

import os
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from mailqueue.cli.completion import SHELLS
from mailqueue.cli.main import main
from mailqueue.db.fetch import Conn
from tests import make
from tests.cli.support.invoked import Cli

SECONDS = 60.0


@pytest.fixture
def path(tmp_path: Path) -> str:
    """PATH with the command `mailqueue`."""
    program = tmp_path / "mailqueue"
    program.write_text(f"#!{sys.executable}\nfrom mailqueue.cli.main import main\nmain()\n")
    program.chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


@cache
def bash_script() -> str:
    """Return what `mailqueue completion bash` prints, as the command of a user prints it."""
    command = [sys.executable, "-m", "mailqueue", "completion", "bash"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS)
    return done.stdout


def bash(path: str, *words: str, **environment: str) -> list[str]:
    """Return what bash completes the last word to, by the script it evaluates."""
    script = (
        f"eval {shlex.quote(bash_script())}\n"
        "compopt() { :; }\n"
        'COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))\n'
        "spec=$(complete -p mailqueue) || exit 3\n"
        "function=${spec#*-F }\n"
        '"${function%% *}" mailqueue "${COMP_WORDS[COMP_CWORD]}" ""\n'
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", "mailqueue", *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
        env={"PATH": path, "HOME": "/nonexistent", **environment},
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_commands_options_and_values(path: str) -> None:
    assert bash(path, "statu") == ["status"]
    assert {"send", "sender"} <= set(bash(path, "se"))
    assert bash(path, "sender", "ch") == ["change"]
    assert bash(path, "template", "part", "li") == ["list"]
    assert bash(path, "email", "list", "--sta") == ["--status"]
    assert bash(path, "email", "list", "--status", "he") == ["held"]
    assert "create" not in bash(path, "key", "")


def test_bash_completes_names_of_projects_and_accounts(path: str, on_fresh_db: Cli) -> None:
    async def named(conn: Conn) -> None:
        shop = await make.project(conn, "shop")
        await make.project(conn, "short")
        await make.sender_account(conn, name="relay")
        await make.sender_account(conn, name="relay-of-shop", project_id=shop)

    on_fresh_db.sql(named)
    server = {"MAILQUEUE_DATABASE_URL": on_fresh_db.database}

    assert bash(path, "email", "list", "--project", "sh", **server) == ["shop", "short"]
    assert bash(path, "project", "stats", "d", **server) == ["default"]
    assert bash(path, "project", "add", "sh", **server) == []
    assert bash(path, "sender", "health", "re", **server) == ["relay", "relay-of-shop"]
    in_shop = ("email", "list", "--project", "shop", "--sender", "re")
    assert bash(path, *in_shop, **server) == ["relay-of-shop"]
    away = {"MAILQUEUE_DATABASE_URL": "postgresql://127.0.0.1:1/none"}
    assert bash(path, "email", "list", "--project", "sh", **away) == []


def asked(path: str, shell: str, script: str, *words: str) -> list[str]:
    """Return what a shell prints. Some make folders in their home."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [shell, *words, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            timeout=SECONDS,
            env={"PATH": path, "HOME": home},
        )
    return done.stdout.split()


@pytest.mark.zsh
def test_zsh_completes_commands_with_their_help(path: str) -> None:
    # Outside of a widget: what the script offers is printed by functions in place of builtins.
    script = (
        'compdef() { :; }; _describe() { print -rl -- "${(@P)3}"; }; compadd() { :; }\n'
        'eval "$(mailqueue completion zsh)"\n'
        "words=(mailqueue sender ch) CURRENT=3; _mailqueue_completion\n"
    )
    [first, *_] = asked(path, "zsh", script, "-f")
    assert first == "change:Change"


@pytest.mark.fish
def test_fish_completes_commands_and_values(path: str) -> None:
    script = "mailqueue completion fish | source; complete -C 'mailqueue {}'"

    assert asked(path, "fish", script.format("sender ch"))[0] == "change"
    assert asked(path, "fish", script.format("email list --status he")) == ["held"]


@pytest.mark.parametrize("shell", SHELLS)
def test_there_is_a_script_for_each_shell(shell: str) -> None:
    script = CliRunner().invoke(main, ["completion", shell])

    assert script.exit_code == 0
    assert f"_MAILQUEUE_COMPLETE={shell}_complete" in script.stdout


def test_completing_a_command_imports_no_other(path: str) -> None:
    script = (
        "import os, sys\n"
        "os.environ |= {'_MAILQUEUE_COMPLETE': 'bash_complete', 'COMP_WORDS': 'mailqueue s',"
        " 'COMP_CWORD': '1'}\n"
        "from mailqueue.cli.main import main\n"
        "try: main(prog_name='mailqueue')\n"
        "except SystemExit: pass\n"
        "print('COMMANDS', [n for n in sys.modules if n.startswith('mailqueue.cli.')\n"
        " and not n.startswith(('mailqueue.cli.main', 'mailqueue.cli.commands',"
        " 'mailqueue.cli.support', 'mailqueue.cli.names'))])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=SECONDS
    )
    assert "plain,status" in done.stdout
    assert "COMMANDS []" in done.stdout
