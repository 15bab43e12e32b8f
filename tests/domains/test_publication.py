"""The DNS records of keys, and which keys sign as a result."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from mailqueue.contract.domains import DkimKeyStatus
from mailqueue.db.fetch import Conn
from mailqueue.dkim.keys import Algorithm
from mailqueue.domains import keys, publication
from mailqueue.domains.model import DkimKey
from mailqueue.domains.publication import RecordState, judged, look_up
from mailqueue.domains.resolver import Resolver
from mailqueue.settings.nameserver import NameServer
from mailqueue.vault.masterkey import MasterKey
from tests import make
from tests.domains.nameserver import Zone, serving

pytestmark = pytest.mark.anyio
MASTER = MasterKey(bytes(range(32)))
KEY = DkimKey(
    id=uuid4(),
    project_id=uuid4(),
    project="default",
    domain="example.com",
    selector="a",
    algorithm=Algorithm.ED25519,
    public_key="11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    status=DkimKeyStatus.PENDING,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    seen_at=None,
    active_at=None,
    retired_at=None,
    needed_until=None,
    revoked_at=None,
)
GOOD = "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="


@pytest.mark.parametrize(
    ("status", "found", "expected"),
    [
        (DkimKeyStatus.PENDING, (GOOD,), RecordState.PUBLISHED),
        (DkimKeyStatus.RETIRED, (GOOD,), RecordState.PUBLISHED),
        (DkimKeyStatus.ACTIVE, (), RecordState.MISSING),
        (DkimKeyStatus.ACTIVE, (GOOD, GOOD), RecordState.WRONG),
        (DkimKeyStatus.ACTIVE, ("v=spf1 -all",), RecordState.WRONG),
        (DkimKeyStatus.REVOKED, (), RecordState.GONE),
        (DkimKeyStatus.REVOKED, ("v=DKIM1; k=ed25519; p=",), RecordState.GONE),
        (DkimKeyStatus.REVOKED, (GOOD,), RecordState.STILL_THERE),
    ],
)
def test_what_is_found_is_judged_by_the_state_of_the_key(
    status: DkimKeyStatus, found: tuple[str, ...], expected: RecordState
) -> None:
    answer = judged(replace(KEY, status=status), found)

    assert answer.in_dns is expected
    assert (answer.why is None) == (expected in (RecordState.PUBLISHED, RecordState.GONE))


async def test_no_answer_is_not_a_missing_record() -> None:
    async with serving(Zone(failing={KEY.name})) as zone:
        (answer,) = await look_up([KEY], zone.resolver())

    assert (answer.in_dns, answer.records) == (RecordState.UNKNOWN, ())
    assert "SERVFAIL" in (answer.why or "")


async def test_many_keys_of_a_domain_are_not_looked_up_at_once() -> None:
    class Counting(Resolver):
        asking, most = 0, 0

        async def texts(self, name: str) -> list[str]:  # noqa: ARG002
            self.asking += 1
            self.most = max(self.most, self.asking)
            await asyncio.sleep(0)
            self.asking -= 1
            return [GOOD]

    resolver = Counting([NameServer("127.0.0.1", 53)])
    answers = await look_up([KEY] * 200, resolver)

    assert [one.in_dns for one in answers] == [RecordState.PUBLISHED] * 200
    assert resolver.most == publication.MAX_AT_ONCE


async def test_a_pending_key_signs_once_its_record_is_seen(conn: Conn) -> None:
    made = await keys.create(
        conn,
        "default",
        domain="example.com",
        algorithms=[Algorithm.RSA, Algorithm.ED25519],
        master=MASTER,
        by="me",
    )
    rsa, ed = sorted(made, key=lambda key: key.algorithm, reverse=True)
    async with serving(Zone().text(rsa.name, rsa.text)) as zone:
        verify = [
            await publication.verify(
                conn, "default", domain="example.com", resolver=zone.resolver(), by="me"
            )
            for _ in range(2)
        ]

    for found in verify:
        assert {each.key.selector: (each.key.status, each.in_dns) for each in found} == {
            rsa.selector: (DkimKeyStatus.ACTIVE, RecordState.PUBLISHED),
            ed.selector: (DkimKeyStatus.PENDING, RecordState.MISSING),
        }
    assert all(each.key.seen_at for each in verify[0] if each.key.algorithm is Algorithm.RSA)
    noted = await make.scalar(
        conn, "SELECT count(*) FROM mailqueue.audit_events WHERE action = 'dkim.activated'"
    )
    assert noted == 1


async def test_a_key_is_put_in_force_without_its_record_when_asked(conn: Conn) -> None:
    await keys.create(
        conn,
        "default",
        domain="example.com",
        algorithms=[Algorithm.ED25519],
        master=MASTER,
        by="me",
    )

    (key,) = await publication.force(conn, "default", domain="example.com", by="me")

    assert (key.status, key.seen_at) == (DkimKeyStatus.ACTIVE, None)
    detail = await make.scalar(
        conn, "SELECT detail FROM mailqueue.audit_events WHERE action = 'dkim.activated'"
    )
    assert detail == {"seen": False}
