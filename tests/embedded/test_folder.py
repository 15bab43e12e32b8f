"""A folder that existed before never changes its permissions or its owner."""

import os
import pwd
import stat
from pathlib import Path

import pytest

from mailqueue.core.errors import ConfigError
from mailqueue.embedded.binaries import all_binaries, find_binaries
from mailqueue.embedded.folder import kept_password, prepare_folder, write_private
from mailqueue.embedded.service_user import Account, require_reach, service_account


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def me() -> Account:
    return Account("me", os.geteuid(), os.getegid(), is_me=True)


@pytest.fixture
def other_user() -> Account:
    """Another user if the tests may become one; otherwise the user of the tests."""
    if os.geteuid() != 0:
        return me()
    nobody = pwd.getpwnam("nobody")
    return Account("nobody", nobody.pw_uid, nobody.pw_gid, is_me=False)


def test_a_folder_that_was_there_keeps_its_mode_and_owner(tmp_path: Path) -> None:
    tmp_path.chmod(0o711)

    prepare_folder(tmp_path, me())

    assert mode(tmp_path) == 0o711


def test_new_folders_can_be_passed_by_the_servers_user_whatever_the_umask(
    reachable_folder: Path, other_user: Account
) -> None:
    data = reachable_folder / "umask" / "deeper" / "data"
    before = os.umask(0o077)
    try:
        prepare_folder(data, other_user)
    finally:
        os.umask(before)

    assert other_user.can_enter(data)


def test_a_shut_folder_on_the_way_is_named_with_the_fix_and_stays_shut(
    reachable_folder: Path, other_user: Account
) -> None:
    shut = reachable_folder / "shut"
    shut.mkdir(mode=0o700)
    data = shut / "data"
    data.mkdir(mode=0o755)
    if other_user.is_me:  # an ordinary user is shut out of their own folder by its mode
        shut.chmod(0o600)

    with pytest.raises(ConfigError, match=rf"cannot enter {shut}: .* `chmod o\+x {shut}`"):
        require_reach(data, other_user)

    assert mode(shut) == (0o600 if other_user.is_me else 0o700)
    shut.chmod(0o700)


def test_a_refused_folder_leaves_nothing_behind(
    reachable_folder: Path, other_user: Account
) -> None:
    shut = reachable_folder / "shut before"
    shut.mkdir(mode=0o600 if other_user.is_me else 0o700)

    with pytest.raises(ConfigError):
        prepare_folder(shut / "deeper" / "data", other_user)

    shut.chmod(0o700)
    assert list(shut.iterdir()) == []


def test_a_folder_of_programs_is_copied_whole_and_runs_there(
    reachable_folder: Path, other_user: Account
) -> None:
    copy = find_binaries(18).copied(reachable_folder / "programs" / "18")

    assert str(copy.bin).startswith(str(reachable_folder))
    for program in ("postgres", "initdb", "psql", "pg_dump"):
        assert other_user.run([copy.program(program), "--version"]).returncode == 0


def test_every_version_is_found_once_the_newest_of_the_wheel_first() -> None:
    found = list(all_binaries())

    assert (found[0].major, found[1].major) == (18, 16)
    assert len({each.bin.resolve() for each in found}) == len(found)


def test_a_version_that_is_not_there_says_what_to_install() -> None:
    with pytest.raises(ConfigError, match="no installation of PostgreSQL 9 was found"):
        find_binaries(9)


def test_an_unknown_service_user_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="MAILQUEUE_SERVICE_USER"):
        service_account("no-such-user-here")


def test_a_password_is_made_once_and_kept(tmp_path: Path) -> None:
    first = kept_password(tmp_path / "password")

    assert kept_password(tmp_path / "password") == first
    assert len(first) >= 32
    assert mode(tmp_path / "password") == 0o600


def test_a_private_file_is_replaced_whole(tmp_path: Path) -> None:
    write_private(tmp_path / "secret", "old")
    write_private(tmp_path / "secret", "new")

    assert (tmp_path / "secret").read_text() == "new\n"
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
