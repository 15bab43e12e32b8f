"""Every provider has the adapters that its row says it has."""

from mailqueue.adapters.providers import ADAPTERS, providers
from mailqueue.core.providers import NAMES_WITH_EVENTS, PROVIDERS


def test_every_provider_with_an_api_has_a_sending_adapter() -> None:
    able = [one for one in PROVIDERS if one in ADAPTERS and ADAPTERS[one].sending is not None]

    assert able == [one for one in PROVIDERS if one.has_api]


def test_every_provider_with_events_has_an_inbound_adapter_of_its_name() -> None:
    readers = providers()

    assert sorted(readers) == sorted(NAMES_WITH_EVENTS)
    assert {name: reader.name for name, reader in readers.items()} == {
        name: name for name in readers
    }
