"""The statements of sql/queries/schema.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

SCHEMA_EXISTS = OneValue.named("schema_exists")
"""sql/queries/schema.sql:1: Whether this database was ever migrated."""
LIST_APPLIED_MIGRATIONS = ManyRows.named("list_applied_migrations")
"""sql/queries/schema.sql:5: Every applied migration, oldest first."""
RECORD_MIGRATION = NoRows.named("record_migration")
"""sql/queries/schema.sql:11: Record that a file was applied, in the transaction that applied it."""
LIST_APPLIED_OBJECTS = ManyRows.named("list_applied_objects")
"""sql/queries/schema.sql:16: Every file of functions, views, comments and grants as it was last
applied.
"""
REPLACE_APPLIED_OBJECTS = NoRows.named("replace_applied_objects")
"""sql/queries/schema.sql:22: Replace the record of applied files."""
LIST_ROLES = ManyRows.named("list_roles")
"""sql/queries/schema.sql:36: Which of these roles exist in the cluster."""
SHOW_OWN_RIGHTS = OneRow.named("show_own_rights")
"""sql/queries/schema.sql:42: Rights of the connected user on roles and this database."""
IS_MEMBER_OF = OneValue.named("is_member_of")
"""sql/queries/schema.sql:53: Whether the connected user has all rights of a role and may act as it.
"""
MAY_CREATE_SCHEMA = OneValue.named("may_create_schema")
"""sql/queries/schema.sql:57: Whether a role may create schemas in this database."""
DATABASE_EXISTS = OneValue.named("database_exists")
"""sql/queries/schema.sql:61: Whether the cluster has a database of that name."""
HAS_TIME_ZONES = OneValue.named("has_time_zones")
"""sql/queries/schema.sql:65: Whether this schema has rules of time zones."""
TIME_ZONE_RELEASE = MaybeRow.named("time_zone_release")
"""sql/queries/schema.sql:69: The release of the rules of time zones; NULL before they were loaded.
"""
REPLACE_TIME_ZONES = NoRows.named("replace_time_zones")
"""sql/queries/schema.sql:73: Replace the rules of time zones."""
