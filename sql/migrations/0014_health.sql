-- 0014_health.sql
-- Adds:    system_settings, space_reports, refusals, book_checks
-- Running workers: go on; they tell how much room there is once they are started anew
-- Locks:   none on existing tables

CREATE TABLE mailqueue.system_settings (
    name        text        NOT NULL PRIMARY KEY,
    value       text        NOT NULL,
    kind        text        NOT NULL,                       -- how value is written
    meaning     text        NOT NULL,
    changed_at  timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT system_settings_kind_check CHECK (kind IN ('interval', 'count', 'bytes')),
    CONSTRAINT system_settings_value_check CHECK (
        CASE kind WHEN 'interval' THEN value::interval >= interval '0'
                  WHEN 'count' THEN value::bigint >= 0
                  ELSE pg_size_bytes(value) >= 0 END)
);
COMMENT ON TABLE mailqueue.system_settings IS
    'Thresholds of the whole installation: from when on view health warns, and when mail is refused. UPDATE value to change one; it holds at once.';

CREATE TABLE mailqueue.space_reports (
    host         text        NOT NULL,
    place        text        NOT NULL,                      -- data, wal; limit: database_size_limit
    free_bytes   bigint      NOT NULL,                      -- below 0: a limit is exceeded
    total_bytes  bigint      NOT NULL,
    reported_at  timestamptz NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT space_reports_pkey PRIMARY KEY (host, place),
    CONSTRAINT space_reports_place_check CHECK (place IN ('data', 'wal', 'limit'))
) WITH (fillfactor = 50);
COMMENT ON TABLE mailqueue.space_reports IS
    'How much room the server has for data, as processes on its host see it: SQL cannot. Reports older than two minutes count for nothing.';

CREATE TABLE mailqueue.refusals (
    reason       text        NOT NULL PRIMARY KEY,          -- free_space, size_limit; anything else is a person's
    told         text        NOT NULL,                      -- completes: mail is not accepted now: …
    since        timestamptz NOT NULL DEFAULT clock_timestamp(),
    valid_until  timestamptz NOT NULL DEFAULT 'infinity'    -- renewed while the reason lasts
);
COMMENT ON TABLE mailqueue.refusals IS
    'Why no mail is accepted now; empty while it is. Looked at whenever mail is accepted. Sending goes on. A person may insert a row, and deletes it.';

CREATE TABLE mailqueue.book_checks (
    is_only     boolean     NOT NULL DEFAULT true PRIMARY KEY,
    checked_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    faults      text[]      NOT NULL,                       -- a sentence each; empty: all adds up

    CONSTRAINT book_checks_only_check CHECK (is_only)
);
COMMENT ON TABLE mailqueue.book_checks IS
    'When the books were last compared as a whole, and what did not add up. One row, written by mailqueue verify.';
