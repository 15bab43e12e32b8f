"""The test suite of RFC 7208 by its community: the result of every case is the one it names."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from dns.reversename import from_address

from mailqueue.domains.resolver import MailHost, Resolver, Unresolved
from mailqueue.domains.spf.evaluate import check_host

pytestmark = pytest.mark.anyio
SUITE = Path(__file__).parent / "published" / "rfc7208-tests.yml"


def cases() -> Iterator[Any]:
    for scenario in yaml.safe_load_all(SUITE.read_text("utf-8")):
        for name, case in scenario["tests"].items():
            yield pytest.param(scenario["zonedata"], case, id=name)


class Zones(Resolver):
    """The zones of a scenario. A record of type SPF stands for a TXT record where none is given."""

    def __init__(self, zones: Mapping[str, list[Any]]) -> None:
        self._zones = {name.lower(): records for name, records in zones.items()}

    def _records(self, name: str, kind: str, depth: int = 0) -> list[Any]:
        name = name.lower().removesuffix(".")
        records = self._zones.get(name, [])
        if name.startswith("error.") and not records:
            raise Unresolved(name, "timeout")
        named = {key for one in records if isinstance(one, dict) for key in one}
        if kind == "TXT" and "TXT" not in named:
            kind = "SPF"
        values = [one[kind] for one in records if isinstance(one, dict) and kind in one]
        found = [value for value in values if value != "NONE"]
        if "TIMEOUT" in found or ("TIMEOUT" in records and not found):
            raise Unresolved(name, "timeout")
        aliases = [one["CNAME"] for one in records if isinstance(one, dict) and "CNAME" in one]
        if not found and aliases and depth < 5:
            return self._records(aliases[0], "TXT" if kind == "SPF" else kind, depth + 1)
        return found

    async def texts(self, name: str) -> list[str]:
        found = self._records(name, "TXT")
        return ["".join([one] if isinstance(one, str) else one) for one in found]

    async def addresses(self, name: str, *, version: int | None = None) -> list[str]:
        kinds = {4: ["A"], 6: ["AAAA"], None: ["A", "AAAA"]}[version]
        return [one for kind in kinds for one in self._records(name, kind)]

    async def mail_hosts(self, name: str) -> list[MailHost]:
        return [MailHost(*one) for one in self._records(name, "MX")]

    async def names_of(self, address: str) -> list[str]:
        name = from_address(address).to_text(omit_final_dot=True)
        return [one.lower() for one in self._records(name, "PTR")]


@pytest.mark.parametrize(("zones", "case"), list(cases()))
async def test_a_mail_of_the_suite_has_its_result(zones: dict[str, Any], case: Any) -> None:
    expected = case["result"] if isinstance(case["result"], list) else [case["result"]]

    result = await check_host(
        Zones(zones), address=case["host"], sender=case["mailfrom"], helo=case["helo"]
    )

    assert result in expected, case.get("comment") or case.get("description")
