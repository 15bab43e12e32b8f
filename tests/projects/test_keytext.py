"""The text of an API key."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.projects.keys.text import hash_of, hint_of, is_well_formed, new_key


@pytest.mark.parametrize(("is_test", "prefix"), [(True, "mq_test_"), (False, "mq_live_")])
def test_a_key_says_what_it_is_and_checks(is_test: bool, prefix: str) -> None:
    key = new_key(is_test=is_test)

    assert key.reveal().startswith(prefix)
    assert len(key.reveal()) == 57
    assert is_well_formed(key.reveal())
    assert hint_of(key) == key.reveal()[:12]
    assert key.reveal() not in repr(key)


def test_no_two_keys_are_alike() -> None:
    assert len({new_key(is_test=True).reveal() for _ in range(1000)}) == 1000


@given(st.integers(0, 56), st.sampled_from("0aZ_é\n"))
def test_a_typo_is_noticed(position: int, char: str) -> None:
    key = new_key(is_test=False).reveal()
    typo = key[:position] + char + key[position + 1 :]

    assert is_well_formed(typo) is (typo == key)


def test_the_hash_is_of_the_whole_key() -> None:
    key = new_key(is_test=False).reveal()

    assert len(hash_of(key)) == 32
    assert hash_of(key) != hash_of(key[:-1])
