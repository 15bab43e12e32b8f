"""A fault that is planted into a copy of the checkout is noticed by the tests named for it."""

import pytest

from tests.adding.copied import Copy
from tests.planted.faults import FAULTS, PlantedFault
from tests.rules.source import ROOT
from tests.tiers import DEEP_PLACES

NO_DATABASE = ("webhook-signed-without-its-id", "password-in-an-error")
"""Faults whose tests need no database."""


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, id=fault.name, marks=pytest.mark.soak if number else ())
        for number, fault in enumerate(FAULTS)
    ],
)
def test_a_planted_fault_is_noticed(copy: Copy, fault: PlantedFault) -> None:
    """Tests that notice nothing, as of another fault's, are told apart."""
    [other, *_] = (one for one in FAULTS if one.name in NO_DATABASE and one is not fault)
    copy.replace(fault.file, fault.right, fault.wrong)

    failed = copy.failing(*fault.noticed_by, *other.noticed_by)

    assert failed == set(fault.noticed_by)


@pytest.mark.soak
def test_tests_that_notice_nothing_are_named(copy: Copy) -> None:
    tests = (test for fault in FAULTS for test in fault.noticed_by)

    assert copy.failing(*tests) == set()


def test_every_fault_can_be_planted() -> None:
    counts = {
        fault.name: (ROOT / fault.file).read_text("utf-8").count(fault.right) for fault in FAULTS
    }

    assert counts == {fault.name: 1 for fault in FAULTS}


def test_every_fault_is_noticed_by_quick_tests() -> None:
    files = {test.partition("::")[0] for fault in FAULTS for test in fault.noticed_by}

    assert [file for file in files if file.startswith(DEEP_PLACES)] == []
