-- What the migration runner needs before the first migration. Run again where something is missing: two runners may do
-- so at once.

CREATE SCHEMA IF NOT EXISTS mailqueue;
COMMENT ON SCHEMA mailqueue IS
    'The email platform: queues, accounts, events. Tables by migration, the rest re-applied.';

CREATE TABLE IF NOT EXISTS mailqueue.schema_migrations (
    version    integer     NOT NULL PRIMARY KEY,
    name       text        NOT NULL,
    sha256     text        NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE mailqueue.schema_migrations IS
    'The migration files applied here, each with the hash of its text: an applied file never changes.';

CREATE TABLE IF NOT EXISTS mailqueue.schema_objects (
    path       text        NOT NULL PRIMARY KEY,
    sha256     text        NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE mailqueue.schema_objects IS
    'The files of functions, views and grants as last applied; all are re-applied when one changes.';

CREATE TABLE IF NOT EXISTS mailqueue.leases (
    name            text        NOT NULL PRIMARY KEY,
    -- one a holder; unique, so that a new holder waits for FOR KEY SHARE
    token           uuid        NOT NULL UNIQUE,
    holder          text        NOT NULL,                   -- for people
    pid             integer,                                -- the server process of the session that does the work
    backend_started timestamptz,
    taken_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    renewed_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    lease_until     timestamptz NOT NULL
);
COMMENT ON TABLE mailqueue.leases IS
    'Work that one process does at a time: migrations, maintenance, erasures. A lease ends when its holder''s session '
    'does, or at lease_until.';
