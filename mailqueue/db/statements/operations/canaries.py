"""The statements of sql/queries/operations/canaries.sql."""

from mailqueue.db.sql import ManyRows, NoRows, OneValue

# Written by python -m tests.rules.constants --write

PUT_CANARY = NoRows.named("put_canary")
"""sql/queries/operations/canaries.sql:3: Send an email by a sender account at an interval, or
change that.
"""
REMOVE_CANARY = OneValue.named("remove_canary")
"""sql/queries/operations/canaries.sql:7: Send no more by a sender account; false if none were sent.
"""
LIST_CANARIES = ManyRows.named("list_canaries")
"""sql/queries/operations/canaries.sql:11: Canaries, and when their last email was sent and
delivered.
"""
SEND_CANARIES = ManyRows.named("send_canaries")
"""sql/queries/operations/canaries.sql:17: Queue an email of each canary; when the next one is due,
and why there is none now.
"""
