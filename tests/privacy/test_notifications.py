"""What an erasure leaves of notifications and filter rules."""

import pytest

from mailqueue.maintenance.context import MaintenanceContext
from tests import make
from tests.privacy.erasing import erased
from tests.watch import watching

pytestmark = pytest.mark.anyio
KEY = "0197b8f0-0000-7000-8000-0000000000d1"


async def test_an_erasure_deletes_what_names_the_person_and_stops_rules_about_them(
    desk: MaintenanceContext,
) -> None:
    owner, inbox_id, _ = await watching.person(desk.conn, 1, 1)
    await watching.record(desk.conn, inbox_id, KEY, "From Ann")
    await desk.conn.execute(
        "INSERT INTO mailqueue.filter_rules (project_id, user_id, rule_type, pattern)"
        " SELECT project_id, id, 'sender', 'ann@example.com' FROM mailqueue.inbox_users"
        " WHERE id = %s",
        (owner,),
    )
    await desk.conn.commit()
    await erased(desk, "ann@example.com")

    assert await watching.log(desk.conn) == []
    pattern = await make.scalar(desk.conn, "SELECT pattern FROM mailqueue.filter_rules")
    assert "ann@example.com" not in pattern
    assert pattern
