"""The statements of sql/queries/senders/rates.sql."""

from mailqueue.db.sql import ManyRows, NoRows, OneValue

# Written by python -m tests.rules.constants --write

SET_MAX_SEND_RATE = OneValue.named("set_max_send_rate")
"""sql/queries/senders/rates.sql:3: Limit the rate of the installation; NULL for no limit. False if
it had that value.
"""
SET_DOMAIN_RATE = NoRows.named("set_domain_rate")
"""sql/queries/senders/rates.sql:7: Limit the rate of a recipient domain, from the next claim on."""
LIFT_DOMAIN_RATE = NoRows.named("lift_domain_rate")
"""sql/queries/senders/rates.sql:15: Remove the rate of a recipient domain; no row if it had none.
"""
LIST_RATES = ManyRows.named("list_rates")
"""sql/queries/senders/rates.sql:19: Rates in force, that of the installation first; one that a
float cannot hold as the nearest power of ten that it can.
"""
