"""Tests that cannot run through a pooler in transaction mode, by file or file::test, and why."""

from collections.abc import Mapping

_MIGRATES = "changes the schema, which needs roles and settings of a session"
_CUTS = "names a session by its process id, and a pooler shows one of its own"
_CUTS_ALL = "ends all sessions of one name, and the pooler has some that are a superuser's"
_SETS = "sets something for a session, as the hint of a refusal says"
_OWN_SERVER = "breaks or moves a server of its own, which no pooler stands before"
_LISTENS = "hears NOTIFY, which belongs to a session"
_PREPARES = "prepares statements, which belong to a session"
_IS_HELD_BACK = "the pooler asks the database for the password, and waits where there is none"
_GIVES_OPTIONS = "gives options in the connection string, which the pooler refuses"
_COUNTS_SESSIONS = "counts sessions, which the pooler keeps"
_COUNTS = "reads the environment of the run, which names the pooler"

_MAINTAINS = "does maintenance, which needs locks and a role of a session"

DIRECT: Mapping[str, str] = {
    "tests/poolers": "goes through poolers of its own",
    "tests/cli/support/test_app.py::test_a_connection_lost_in_the_middle_is_unavailable": _CUTS,
    "tests/cli/status/test_doctor.py::"
    "test_a_transaction_open_for_long_is_named_by_pid_and_program": _CUTS,
    "tests/cli/status/test_doctor.py::test_a_commit_that_is_not_waited_for_is_told": _GIVES_OPTIONS,
    "tests/cli/status/test_doctor.py::test_another_isolation_by_default_is_told": _GIVES_OPTIONS,
    "tests/cli/maintenance/test_commands.py": _MAINTAINS,
    "tests/cli/test_migrate.py::test_what_is_pending_ends_the_status_with_1": _MIGRATES,
    "tests/cli/senders/test_trial.py::"
    "test_no_database_connection_is_held_while_the_server_is_waited_for": _COUNTS_SESSIONS,
    "tests/cli/status/test_verify.py::test_a_row_that_is_deleted_makes_it_fail": _SETS,
    "tests/concurrency/test_lost_database.py::"
    "test_connections_cut_one_by_one_are_made_again": _CUTS_ALL,
    "tests/db/test_leases.py": _CUTS,
    "tests/db/test_migrate.py": _MIGRATES,
    "tests/db/test_schema_version.py": _MIGRATES,
    "tests/db/test_leased_migrations.py": _MIGRATES,
    "tests/db/test_pool.py::test_a_missing_database_is_named": _IS_HELD_BACK,
    "tests/db/test_pool.py::test_a_connection_cut_while_it_lay_in_the_pool_is_not_lent": _CUTS,
    "tests/db/test_pool.py::"
    "test_a_connection_cut_while_it_is_used_says_that_the_server_went_away": _CUTS,
    "tests/maintenance": _MAINTAINS,
    "tests/chaos": _OWN_SERVER,
    "tests/failover": _OWN_SERVER,
    "tests/backup": _OWN_SERVER,
    "tests/operations/test_space.py": _OWN_SERVER,
    "tests/operations/health/test_locks.py": _CUTS,
    "tests/operations/health/test_missing.py": _COUNTS_SESSIONS,
    "tests/queue/test_lost_workers.py": _CUTS_ALL,
    "tests/mail/claim/test_wakeups.py::"
    "test_only_one_transaction_notifies_a_parked_worker": _LISTENS,
    "tests/mail/limits/test_domains.py::"
    "test_a_claim_that_only_moved_mail_wakes_who_sleeps": _LISTENS,
    "tests/rules/test_guards.py::test_the_callers_settings_do_not_decide_what_is_tested": _COUNTS,
    "tests/rules/test_locks.py": _MAINTAINS,
    "tests/rules/test_statements.py": _PREPARES,
    "tests/upgrade": _MIGRATES,
}
