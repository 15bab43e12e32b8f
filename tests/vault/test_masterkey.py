"""The sources of the master key, and invalid keys."""

import base64
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID

import pytest

from mailqueue.core.errors import ConfigError
from mailqueue.vault.masterkey import (
    MasterKey,
    create_master_key,
    load_master_key,
    parse_master_key,
    replace_master_key,
    require_master_key,
)
from mailqueue.vault.sealing import DataKey
from mailqueue.vault.wrapping import unwrap, wrap

RAW = bytes(range(224, 256))
DATA_KEY = DataKey(UUID(int=3), UUID(int=7), bytes(range(32)))


@pytest.mark.parametrize(
    "text",
    [
        RAW.hex(),
        RAW.hex().upper(),
        base64.b64encode(RAW).decode(),
        base64.urlsafe_b64encode(RAW).decode(),
        base64.b64encode(RAW).decode().rstrip("="),
        f"  {base64.b64encode(RAW).decode()}\n",
    ],
)
def test_a_key_is_read_from_hexadecimal_and_base64(text: str) -> None:
    assert parse_master_key(text, source="MAILQUEUE_MASTER_KEY").key == RAW


@pytest.mark.parametrize("text", ["", "secret", RAW.hex()[:-2], "A" * 44, "é" * 43, "A B" * 20])
def test_a_text_that_is_no_key_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_master_key(text, source="MAILQUEUE_MASTER_KEY")

    assert "MAILQUEUE_MASTER_KEY must be 32 bytes" in str(caught.value)
    assert not text or text not in str(caught.value)


def test_no_key_anywhere_is_no_error_until_one_is_needed(tmp_path: Path) -> None:
    assert load_master_key(tmp_path) is None
    assert load_master_key(tmp_path / "missing") is None
    with pytest.raises(ConfigError, match="mailqueue up"):
        require_master_key(tmp_path)


def test_a_made_key_file_has_mode_600_and_is_read_again(tmp_path: Path) -> None:
    made = create_master_key(tmp_path)

    path = tmp_path / "master.key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_master_key(tmp_path) == made
    assert os.listdir(tmp_path) == ["master.key"]


def test_making_a_key_keeps_the_one_that_is_there(tmp_path: Path) -> None:
    first = create_master_key(tmp_path)

    assert create_master_key(tmp_path) == first


def test_many_makers_agree_on_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(create_master_key_of_its_own, [tmp_path] * 32))

    assert len(keys) == 1


def create_master_key_of_its_own(folder: Path) -> bytes:
    return create_master_key(folder).key


def test_the_environment_goes_before_the_file(tmp_path: Path) -> None:
    create_master_key(tmp_path)

    key = load_master_key(tmp_path, RAW.hex())

    assert key is not None
    assert key.key == RAW


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_key_file_others_can_reach_is_refused_with_the_fix(tmp_path: Path, mode: int) -> None:
    create_master_key(tmp_path)
    path = tmp_path / "master.key"
    path.chmod(mode)

    with pytest.raises(ConfigError, match=f"mode {mode:o}.*chmod 600 {path}"):
        load_master_key(tmp_path)


def test_a_broken_key_file_is_refused_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "master.key"
    path.write_bytes(b"\xff\xfe nonsense")
    path.chmod(0o600)

    with pytest.raises(ConfigError, match=str(path)):
        load_master_key(tmp_path)


def test_a_folder_that_is_away_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing/master\.key"):
        create_master_key(tmp_path / "missing")


def test_a_key_does_not_show_itself_but_has_a_name() -> None:
    key = MasterKey(RAW)

    assert repr(key) == "MasterKey()"
    assert len(key.id) == 16
    assert key.id != MasterKey(bytes(32)).id


def test_a_wrapped_data_key_opens_under_its_master_key_in_its_row_only() -> None:
    master = MasterKey(RAW)
    wrapped = wrap(master, DATA_KEY)

    assert unwrap(master, wrapped, project_id=UUID(int=7), data_key_id=UUID(int=3)) == DATA_KEY
    assert unwrap(master, wrapped, project_id=UUID(int=8), data_key_id=UUID(int=3)) is None
    assert unwrap(master, wrapped, project_id=UUID(int=7), data_key_id=UUID(int=4)) is None
    other = MasterKey(bytes(32))
    assert unwrap(other, wrapped, project_id=UUID(int=7), data_key_id=UUID(int=3)) is None
    for length in range(len(wrapped)):
        cut = wrapped[:length]
        assert unwrap(master, cut, project_id=UUID(int=7), data_key_id=UUID(int=3)) is None


def test_the_key_before_comes_along_from_the_environment_or_the_folder(tmp_path: Path) -> None:
    old = create_master_key(tmp_path)

    given = load_master_key(tmp_path, RAW.hex(), previous=old.key.hex())
    new = replace_master_key(tmp_path)

    assert given is not None
    assert given.ids == (MasterKey(RAW).id, old.id)
    assert new.ids == (new.id, old.id)
    assert new.id != old.id
    assert load_master_key(tmp_path) == new


def test_a_replaced_key_file_keeps_its_mode_and_leaves_no_draft(tmp_path: Path) -> None:
    create_master_key(tmp_path)

    replace_master_key(tmp_path)

    assert sorted(os.listdir(tmp_path)) == ["master.key", "master.key.previous"]
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in os.listdir(tmp_path)} == {0o600}


def test_a_second_replacement_waits_for_the_first_to_be_finished(tmp_path: Path) -> None:
    """The earlier key, which still wraps data keys, would be lost otherwise."""
    create_master_key(tmp_path)
    new = replace_master_key(tmp_path)

    with pytest.raises(ConfigError, match=r"master\.key\.previous exists: run .*vault rotate"):
        replace_master_key(tmp_path)

    assert load_master_key(tmp_path) == new


def test_a_replacement_killed_halfway_is_made_up_for(tmp_path: Path) -> None:
    old = create_master_key(tmp_path)
    os.link(tmp_path / "master.key", tmp_path / "master.key.previous")

    assert load_master_key(tmp_path) == old
    assert replace_master_key(tmp_path).ids[1] == old.id


def test_without_a_key_file_there_is_nothing_to_replace(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no key to replace"):
        replace_master_key(tmp_path)
