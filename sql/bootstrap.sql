-- What the migration runner needs before the first migration; run once in an empty database.

CREATE SCHEMA mailqueue;
COMMENT ON SCHEMA mailqueue IS 'The email platform: queues, accounts, events. Tables by migration, the rest re-applied.';

CREATE TABLE mailqueue.schema_migrations (
    version    integer     NOT NULL PRIMARY KEY,
    name       text        NOT NULL,
    sha256     text        NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE mailqueue.schema_migrations IS
    'The migration files applied here, each with the hash of its text: an applied file never changes.';

CREATE TABLE mailqueue.schema_objects (
    path       text        NOT NULL PRIMARY KEY,
    sha256     text        NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE mailqueue.schema_objects IS
    'The files of functions, views and grants as last applied; all are re-applied when one changes.';
