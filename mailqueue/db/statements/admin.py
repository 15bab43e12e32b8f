"""The statements of sql/queries/admin.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneValue

# Written by python -m tests.rules.constants --write

ADD_ADMINISTRATOR = OneValue.named("add_administrator")
"""sql/queries/admin.sql:3: Add an administrator, who authenticates by a token; only the hash of the
token is stored.
"""
REVOKE_ADMINISTRATOR = OneValue.named("revoke_administrator")
"""sql/queries/admin.sql:8: Revoke an administrator's token immediately."""
FIND_ADMINISTRATOR = MaybeRow.named("find_administrator")
"""sql/queries/admin.sql:12: Name of the administrator with a valid token of that hash."""
LIST_ADMINISTRATORS = ManyRows.named("list_administrators")
"""sql/queries/admin.sql:16: All administrators with a token, valid or not, newest first."""
LIST_SETTINGS = ManyRows.named("list_settings")
"""sql/queries/admin.sql:22: Every setting and flag of the installation, by name."""
CHANGE_SETTING = OneValue.named("change_setting")
"""sql/queries/admin.sql:27: Change a setting or flag; false if it had that value."""
REVOKE_KEYS = ManyRows.named("revoke_keys")
"""sql/queries/admin.sql:31: Revoke keys of all projects: of a project, with a prefix, with a hash;
all without a filter.
"""
SEARCH_EVENTS = ManyRows.named("search_events")
"""sql/queries/admin.sql:36: Events and attempts of all projects, each newest first, with a limit
for each.
"""
LIST_QUEUE_BOARD = ManyRows.named("list_queue_board")
"""sql/queries/admin.sql:43: Unfinished mail of each lane of all projects, most urgent first."""
LIST_QUEUE_STATES = ManyRows.named("list_queue_states")
"""sql/queries/admin.sql:49: State of each queue besides mail."""
COUNT_OUTCOME_BOARD = ManyRows.named("count_outcome_board")
"""sql/queries/admin.sql:56: Number of mails in each status: counted up to count_exactly, otherwise
estimated from statistics.
"""
LIST_FLOW_BOARD = ManyRows.named("list_flow_board")
"""sql/queries/admin.sql:61: Outcomes of attempts in the last minute, five minutes and hour."""
LIST_WORKER_BOARD = ManyRows.named("list_worker_board")
"""sql/queries/admin.sql:66: Workers that run or ended within the last hour, newest first."""
LIST_PROVIDER_BOARD = ManyRows.named("list_provider_board")
"""sql/queries/admin.sql:76: All sender accounts; those that need attention first."""
LIST_HEALTH_BOARD = ManyRows.named("list_health_board")
"""sql/queries/admin.sql:83: Result of each check of the installation."""
LIST_PROJECT_RETENTION = ManyRows.named("list_project_retention")
"""sql/queries/admin.sql:88: How long each kind of record of a project is kept."""
