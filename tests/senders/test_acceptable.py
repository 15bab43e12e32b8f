"""The validation of sender accounts."""

from dataclasses import replace
from typing import Any

import pytest

from mailqueue.core.errors import InvalidField
from mailqueue.core.providers import Provider
from mailqueue.core.secret import Secret
from mailqueue.senders.acceptable import changed, checked
from mailqueue.senders.model import Limits, LimitsChange, NewSender, Tls
from mailqueue.senders.presets import PRESETS

RELAY = NewSender(name="relay", host="relay.example.com")


@pytest.mark.parametrize(
    ("change", "field", "shown"),
    [
        ({"name": ""}, "name", "''"),
        ({"name": "two  spaces"}, "name", "'two  spaces'"),
        ({"name": "end "}, "name", "'end '"),
        ({"name": "a" * 129}, "name", "aaa"),
        ({"name": "-x"}, "name", "'-x'"),
        ({"name": "é"}, "name", "'é'"),
        ({"host": None}, "host", "needed"),
        ({"host": "two words"}, "host", "'two words'"),
        ({"host": "relay.example.com\r\nX"}, "host", r"\r\nX"),
        ({"host": "0x7f.1"}, "host", "'0x7f.1'"),
        ({"port": 0}, "port", "got 0"),
        ({"port": 65_536}, "port", "got 65536"),
        ({"email": "nobody"}, "email", "'nobody'"),
        ({"display_name": "A\nB"}, "display_name", r"'A\nB'"),
        ({"username": "ann"}, "password", "'ann'"),
        ({"password": Secret("x")}, "username", "needed"),
        ({"username": "a\x00", "password": Secret("x")}, "username", r"\x00"),
        ({"priority": -1}, "priority", "got -1"),
        ({"priority": 40_000}, "priority", "got 40000"),
        ({"limits": Limits(daily_limit=0)}, "daily_limit", "got 0"),
        ({"limits": Limits(rate_per_second=0.0)}, "rate_per_second", "got 0"),
        ({"limits": Limits(rate_per_second=float("nan"))}, "rate_per_second", "got nan"),
        ({"limits": Limits(rate_per_second=float("inf"))}, "rate_per_second", "got inf"),
        ({"limits": Limits(burst=0)}, "burst", "got 0"),
        ({"limits": Limits(batch_size=10_001)}, "batch_size", "got 10001"),
        ({"limits": Limits(send_delay_ms=-1)}, "send_delay_ms", "got -1"),
        ({"limits": Limits(max_connections=101)}, "max_connections", "got 101"),
        ({"limits": Limits(warm_up=())}, "warm_up", "got 0"),
        ({"limits": Limits(warm_up=(200, 0))}, "warm_up", "got 0"),
        ({"provider": Provider.TRAP}, "host", "trap"),
        ({"api_url": "https://api.example.com"}, "api_url", "no meaning"),
        ({"settings": {"region": "eu"}}, "setting", "smtp has no setting 'region'"),
        ({"provider": Provider.SES}, "host", "no meaning"),
    ],
)
def test_a_field_at_fault_is_named_with_its_value(
    change: dict[str, Any], field: str, shown: str
) -> None:
    with pytest.raises(InvalidField) as caught:
        checked(replace(RELAY, **change))

    assert caught.value.field == field
    assert shown in str(caught.value)


def test_a_refusal_never_shows_a_password() -> None:
    with pytest.raises(InvalidField) as caught:
        checked(replace(RELAY, password=Secret("hunter2")))

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("tls", "port"), [(Tls.NONE, 25), (Tls.STARTTLS, 587), (Tls.IMPLICIT, 465)]
)
def test_the_port_follows_from_how_the_connection_is_secured(tls: Tls, port: int) -> None:
    assert checked(replace(RELAY, tls=tls)).port == port
    assert checked(replace(RELAY, tls=tls, port=2525)).port == 2525


def test_host_and_address_get_the_form_that_is_used() -> None:
    ready = checked(replace(RELAY, host="Relay.Example.COM.", email="Ann@BÜCHER.example"))

    assert ready.host == "relay.example.com"
    assert ready.email == "Ann@xn--bcher-kva.example"
    assert checked(replace(RELAY, host="[::1]")).host == "::1"


def test_every_preset_is_acceptable() -> None:
    for name, preset in PRESETS.items():
        new = NewSender(
            name=name,
            host=preset.host,
            port=preset.port,
            tls=preset.tls,
            username=preset.username or "ann",
            password=Secret("x"),
            limits=preset.limits,
        )
        assert checked(new).port == preset.port


def test_the_gmail_preset_has_the_limits_of_the_documents() -> None:
    gmail = PRESETS["gmail"]

    assert (gmail.host, gmail.port, gmail.tls) == ("smtp.gmail.com", 587, Tls.STARTTLS)
    assert gmail.limits == Limits(daily_limit=2000, batch_size=50, send_delay_ms=100)


def test_a_new_account_has_no_daily_limit_delay_or_rate() -> None:
    assert checked(RELAY).limits == Limits(daily_limit=None, rate_per_second=None, send_delay_ms=0)


def test_a_change_keeps_what_it_does_not_name() -> None:
    limits = Limits(daily_limit=10, rate_per_second=1.0, burst=5)

    assert changed(limits, LimitsChange()) == limits
    assert changed(limits, LimitsChange(burst=6)) == replace(limits, burst=6)
    assert changed(limits, LimitsChange(daily_limit=None)) == replace(limits, daily_limit=None)


def test_a_change_is_checked() -> None:
    with pytest.raises(InvalidField, match="burst: must be at least 1, got 0"):
        changed(Limits(), LimitsChange(burst=0))


SES = NewSender(name="ses", provider=Provider.SES, username="AKID", password=Secret("key"))


@pytest.mark.parametrize(
    ("change", "field", "shown"),
    [
        ({"password": None}, "api_key", "needed"),
        ({"password": Secret("two\nwords")}, "api_key", "one line"),
        ({"username": None}, "username", "access key id"),
        ({"port": 443}, "port", "api_url"),
        ({"settings": {"region": "eu/../x"}}, "setting", "'eu/../x'"),
        ({"settings": {"region": 5}}, "setting", "must be a text"),
        ({"settings": {"max_bytes": 0}}, "setting", "above 0"),
        ({"settings": {"max_bytes": True}}, "setting", "above 0"),
        ({"settings": {"max_bytes": "many"}}, "setting", "above 0"),
        ({"settings": {"extra": "text"}}, "setting", "must be an object"),
        ({"settings": {"extra": {"x": "y" * 20_000}}}, "setting", "16384"),
        ({"settings": {"extra": {"Bcc": "eve@example.org"}}}, "setting", "may not have Bcc"),
        ({"api_url": "https://"}, "api_url", "host"),
        ({"api_url": "https://a.example/?x=1"}, "api_url", "path only"),
        ({"api_url": "https://a.example:0"}, "api_url", "path only"),
    ],
)
def test_a_field_at_fault_of_an_account_with_an_api_is_named(
    change: dict[str, Any], field: str, shown: str
) -> None:
    with pytest.raises(InvalidField) as caught:
        checked(replace(SES, **change))

    assert caught.value.field == field
    assert shown in str(caught.value)
    assert "words" not in str(caught.value)


def test_numbers_of_settings_may_come_as_text() -> None:
    ready = checked(replace(SES, settings={"max_bytes": "1000", "region": "eu-west-1"}))

    assert ready.settings == {"max_bytes": 1000, "region": "eu-west-1"}
    assert checked(SES).settings is None
