"""A host name that resolves to another address a second later is not connected to."""

import asyncio
from typing import Any

import pytest

from mailqueue.adapters.http.connection import connect
from mailqueue.adapters.http.model import HttpTimeouts, NetworkPolicy, read_origin
from mailqueue.adapters.sending.smtp import SmtpAccount, SmtpTransport
from mailqueue.core.verdict import Fault, Rejected
from tests.smtp.client.test_dial import CountingListener, listener, names  # noqa: F401

pytestmark = pytest.mark.anyio
# Every form in which an inside IPv4 address can hide, as a name server may say it.
WRAPPED = (
    *("::ffff:7f00:1", "::7f00:1", "::ffff:0:7f00:1"),
    *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1"),
    *("2002:7f00:1::1", "2002:a9fe:a9fe::", "2001:0:7f00:1::", "2001:0:808:808:0:0:80ff:fefe"),
    *("fe80::5efe:7f00:1", "fd00:ec2::254", "fec0::1", "ff0e::1", "100::1", "2001:db8::1"),
)
INSIDE = ("127.0.0.1", "169.254.169.254", "100.100.100.200", "192.0.0.192", "0.0.0.0", *WRAPPED)


async def by_smtp(port: int) -> Any:
    return await SmtpTransport(SmtpAccount(host="rebinds.example.com", port=port)).open()


async def by_http(port: int) -> Any:
    site = read_origin(f"http://rebinds.example.com:{port}")
    return await connect(site, NetworkPolicy(), timeouts=HttpTimeouts(), context=None)


roads = pytest.mark.parametrize("road", [by_smtp, by_http])


@roads
async def test_what_was_checked_is_connected_to_although_the_next_answer_is_inside(
    listener: CountingListener,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    road: Any,
) -> None:
    asked = names(monkeypatch, ["8.8.8.8"], ["127.0.0.1"], ["127.0.0.1"])
    went: list[str] = []

    async def sock_connect(_: object, address: tuple[str, int]) -> None:
        went.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", sock_connect)

    found = await road(listener.port)

    assert isinstance(found, Rejected)
    assert found.kind is Fault.TRANSIENT
    assert asked == ["rebinds.example.com"]
    assert went == ["8.8.8.8"]
    assert not listener.heard()


@roads
@pytest.mark.parametrize("address", INSIDE)
async def test_a_name_that_leads_inside_is_refused_in_every_disguise(
    listener: CountingListener,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    road: Any,
    address: str,
) -> None:
    names(monkeypatch, ["8.8.8.8", address])
    went: list[object] = []

    async def sock_connect(_: object, where: object) -> None:
        went.append(where)

    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", sock_connect)

    found = await road(listener.port)

    assert isinstance(found, Rejected)
    assert found.kind is Fault.ACCOUNT
    assert went == []
    assert address not in found.detail
