-- 0013_maintenance.sql
-- Adds:    retention_rules, archives, archived_days
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.retention_rules (
    project_id  uuid        REFERENCES mailqueue.projects (id),  -- NULL: projects without a rule of their own
    kind        text        NOT NULL,
    hot_days    integer     NOT NULL,                       -- at least so long in its table
    warm_days   integer,                                    -- age at which its files move to the cold place; NULL: never
    keep_days   integer,                                    -- age at which it is deleted for good; NULL: never

    CONSTRAINT retention_rules_project_id_kind_key UNIQUE NULLS NOT DISTINCT (project_id, kind),
    CONSTRAINT retention_rules_kind_check CHECK (kind IN ('email_history', 'send_logs', 'email_events', 'opens_clicks',
        'email_contents', 'attachments', 'idempotency_keys', 'trap_messages', 'workers', 'limit_days')),
    CONSTRAINT retention_rules_project_check CHECK (
        project_id IS NULL OR kind NOT IN ('trap_messages', 'workers', 'limit_days')),
    CONSTRAINT retention_rules_days_check CHECK (
        hot_days BETWEEN 1 AND 36500 AND warm_days BETWEEN hot_days AND 36500 AND keep_days BETWEEN hot_days AND 36500
        AND warm_days <= keep_days),
    -- Only what is written by month has an archive; the rest is deleted at the end of its hot days.
    CONSTRAINT retention_rules_archived_check CHECK (
        kind IN ('email_history', 'send_logs', 'email_events', 'opens_clicks', 'email_contents', 'attachments')
        OR (keep_days = hot_days AND warm_days IS NULL))
);
COMMENT ON TABLE mailqueue.retention_rules IS
    'How many days everything is kept: hot in its table, then warm and cold in archive files, then no more. keep_days = hot_days: no archive. View retention says what holds for each project.';

INSERT INTO mailqueue.retention_rules (kind, hot_days, warm_days, keep_days) VALUES
    ('email_history', 90, 730, 2557),
    ('send_logs', 90, 730, 2557),
    ('email_events', 90, 730, 2557),
    ('opens_clicks', 365, NULL, 365),
    ('email_contents', 90, 730, 2557),
    ('attachments', 90, 730, 2557),
    ('idempotency_keys', 400, NULL, 400),
    ('trap_messages', 30, NULL, 30),
    ('workers', 30, NULL, 30),
    ('limit_days', 800, NULL, 800);

CREATE TABLE mailqueue.archives (
    id              bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id      uuid        NOT NULL,
    kind            text        NOT NULL,                   -- as in retention_rules
    month           date        NOT NULL,                   -- its first day
    part            integer     NOT NULL,                   -- a month may leave in several files
    state           text        NOT NULL DEFAULT 'writing',
    tier            text        NOT NULL DEFAULT 'warm',
    store           text        NOT NULL,                   -- file:///folder or s3://bucket/prefix
    path            text        NOT NULL,                   -- below the store
    revision        integer     NOT NULL DEFAULT 1,         -- counts how often the file was written anew
    records         bigint,                                 -- lines of the file behind its header; NULL while it is written
    bytes           bigint,
    sha256          text,                                   -- of the file, hexadecimal
    first_at        timestamptz,                            -- NULL where the file is empty
    last_at         timestamptz,
    removed         bigint      NOT NULL DEFAULT 0,         -- records, from the first, that the table no longer has
    gone_elsewhere  bigint[]    NOT NULL DEFAULT '{}',      -- of those, places of records that are mail in the queue again
    keep_until      timestamptz,                            -- restored: stays in the table until then
    written_on      text        NOT NULL DEFAULT '',        -- host
    written_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    verified_at     timestamptz,                            -- last time the whole file was read back
    archived_at     timestamptz,                            -- NULL until the table has none of it
    purged_at       timestamptz,
    leftover_store  text,                                   -- a file that another one replaced and that is still to be deleted
    leftover_path   text,

    CONSTRAINT archives_project_id_kind_month_part_key UNIQUE (project_id, kind, month, part),
    CONSTRAINT archives_state_check
        CHECK (state IN ('writing', 'written', 'verified', 'archived', 'restored', 'purged')),
    CONSTRAINT archives_tier_check CHECK (tier IN ('warm', 'cold')),
    CONSTRAINT archives_month_check CHECK (month = date_trunc('month', month::timestamp)::date),
    CONSTRAINT archives_counts_check CHECK (
        (state = 'writing' OR num_nulls(records, bytes, sha256) = 0) AND removed BETWEEN 0 AND coalesce(records, 0)),
    CONSTRAINT archives_kept_check CHECK ((state = 'restored') = (keep_until IS NOT NULL)),
    CONSTRAINT archives_purged_check CHECK ((state = 'purged') = (purged_at IS NOT NULL)),
    CONSTRAINT archives_leftover_check CHECK ((leftover_store IS NULL) = (leftover_path IS NULL))
);
COMMENT ON TABLE mailqueue.archives IS
    'Files of rows that left their tables, one project and month each. writing, written, verified (read back, rows may go), archived (rows are gone), restored (rows are back until keep_until), purged (the file is deleted).';
COMMENT ON COLUMN mailqueue.archives.store IS
    'Where the path is. Change it by hand where a whole store was moved, then run mailqueue archive verify.';

CREATE TABLE mailqueue.archived_days (
    project_id  uuid    NOT NULL,
    day         date    NOT NULL,                           -- of acceptance, UTC
    status      text    NOT NULL,
    emails      bigint  NOT NULL,

    CONSTRAINT archived_days_pkey PRIMARY KEY (project_id, day, status),
    CONSTRAINT archived_days_emails_check CHECK (emails >= 0)
);
COMMENT ON TABLE mailqueue.archived_days IS
    'Finished mails that are in the archive and no longer in email_history, by day of acceptance: part of the books.';
