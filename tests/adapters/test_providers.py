"""Every provider has the adapters that its row says it has."""

from mailqueue.adapters.providers import ADAPTERS, providers
from mailqueue.core.providers import NAMES_WITH_EVENTS, PROVIDERS


def test_whoever_has_an_api_has_what_sends_by_it() -> None:
    able = [one for one in PROVIDERS if one in ADAPTERS and ADAPTERS[one].sending is not None]

    assert able == [one for one in PROVIDERS if one.has_api]


def test_whoever_sends_events_has_what_reads_them_under_its_own_name() -> None:
    readers = providers()

    assert sorted(readers) == sorted(NAMES_WITH_EVENTS)
    assert {name: reader.name for name, reader in readers.items()} == {
        name: name for name in readers
    }
