"""CHECKS: the SQL functions that return the checks of the installation, in the order of the doctor.

The view `health` and the rights of `mailqueue_dba` are made from them. Each returns rows (name,
state, found, fix). `docs/adding/check.md` is the guide to adding one.
"""

CHECKS = (
    "health_of_mail",
    "health_of_space",
    "health_of_bounds",
    "health_of_stock",
    "health_of_queues",
    "health_of_services",
    "health_of_refused_rows",
    "health_of_webhooks",
    "health_of_inbox",
    "health_of_publishing",
    "health_of_bridge",
    "health_of_timed_events",
    "health_of_schedules",
    "health_of_consumers",
    "health_of_stats",
    "health_of_inbox_watch",
    "health_of_events",
    "health_of_tracking",
    "health_of_domains",
    "health_of_canaries",
    "health_of_traces",
    "health_of_maintenance",
    "health_of_server",
    "health_of_indexes",
)
