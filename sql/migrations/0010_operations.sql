-- 0010_operations.sql
-- Adds:    pauses, lanes for paused mail, pausing a whole project, indexes by time on send_logs and email_history
-- Running workers: go on; they know of pauses once the functions are re-applied
-- Locks:   send_logs and email_history while their BRIN indexes are built (a second for millions of rows)

CREATE TABLE mailqueue.pauses (
    project_id  uuid        NOT NULL REFERENCES mailqueue.projects (id),
    kind        text        NOT NULL,
    value       text        NOT NULL,                       -- campaign_id, or a domain in lower case
    reason      text,
    until       timestamptz NOT NULL DEFAULT 'infinity',    -- infinity: until somebody resumes it
    actor       text        NOT NULL DEFAULT session_user,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT pauses_pkey PRIMARY KEY (project_id, kind, value),
    CONSTRAINT pauses_kind_check CHECK (kind IN ('campaign', 'domain')),
    CONSTRAINT pauses_domain_check CHECK (kind <> 'domain' OR value = lower(value))
);
COMMENT ON TABLE mailqueue.pauses IS
    'Campaigns and recipient domains whose mail waits, until when and why. Paused projects and sender accounts say so themselves; view paused shows all.';

-- A lane of paused mail is ready when the pause is over: nobody has to bring its mail back.
ALTER TABLE mailqueue.lanes
    ADD COLUMN home_route  text,                            -- NULL: an ordinary lane; else where its mail is from
    ADD COLUMN pause_kind  text,
    ADD COLUMN pause_value text,
    ADD CONSTRAINT lanes_pause_check
        CHECK (num_nonnulls(home_route, pause_kind, pause_value) IN (0, 3)) NOT VALID,
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT lanes_reason_check,
    ADD CONSTRAINT lanes_reason_check CHECK (blocked_reason IN ('empty', 'not_due', 'recheck', 'daily_limit',
        'rate', 'paused', 'suspended', 'unreachable', 'no_sender', 'set_aside')) NOT VALID;
COMMENT ON COLUMN mailqueue.lanes.home_route IS
    'Set where the lane keeps the mail of a paused campaign or domain: the route that mail came from.';

ALTER TABLE mailqueue.projects
    ADD COLUMN status_until timestamptz,                    -- NULL: until somebody resumes it
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT projects_status_check,
    ADD CONSTRAINT projects_status_check CHECK (status IN ('active', 'paused', 'suspended')) NOT VALID;

-- Rows lie in order of time: a summary of block ranges finds the last minutes and costs inserts nothing.
-- Not CONCURRENTLY: a partitioned table has none.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX send_logs_sent_at_idx ON mailqueue.send_logs
    USING brin (sent_at) WITH (pages_per_range = 32, autosummarize = on);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX email_history_finished_at_idx ON mailqueue.email_history
    USING brin (finished_at) WITH (pages_per_range = 32, autosummarize = on);

COMMENT ON TABLE mailqueue.audit_events IS
    'Who changed what. Rows are added, never changed, but for the count of an operation that goes on in batches.';
