-- 0150_schedules.sql
-- Adds:    schedules, schedule_runs, schedule_recipients: mail that is made at a time, once or again and again
-- Running workers: not affected; workers of this release run the schedules
-- Locks:   none on existing tables

CREATE TABLE mailqueue.schedules (
    id               uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id       uuid        NOT NULL REFERENCES mailqueue.projects (id),
    name             text,
    schedule_type    text        NOT NULL,
    once_at          timestamptz,
    -- squawk-ignore prefer-timestamp-tz
    local_at         timestamp,                              -- on the clock of each recipient
    cron_expression  text,
    time_zone        text        NOT NULL DEFAULT 'UTC',
    message          jsonb       NOT NULL,                   -- keys of enqueue(), without the recipient
    recipients       jsonb       NOT NULL,                   -- addresses with their variables, and names of lists
    missed           text        NOT NULL DEFAULT 'latest',
    overlap          text        NOT NULL DEFAULT 'queue',
    ends_at          timestamptz,
    max_runs         integer,
    spread_seconds   integer     NOT NULL DEFAULT 0,
    is_test          boolean     NOT NULL DEFAULT false,
    created_by       text        NOT NULL,
    updated_at       timestamptz NOT NULL DEFAULT now(),
    next_run_at      timestamptz,                            -- the next occurrence; NULL: there is none
    -- squawk-ignore prefer-timestamp-tz
    next_local       timestamp,                              -- the same on the clock of time_zone
    plan_after       timestamptz,                            -- next_run_at is to be computed: the first one after it
    zone_release     text,                                   -- rules of time zones by which it was computed
    last_run_at      timestamptz,
    last_missed_at   timestamptz,
    run_count        integer     NOT NULL DEFAULT 0,

    -- Queue contract: these columns stand in every queue table.
    status           text        NOT NULL DEFAULT 'pending',
    priority         smallint    NOT NULL DEFAULT 2,
    run_at           timestamptz NOT NULL DEFAULT now(),
    attempts         smallint    NOT NULL DEFAULT 0,
    max_attempts     smallint    NOT NULL DEFAULT 100,
    claim_no         bigint,
    worker_id        integer,
    assigned_at      timestamptz,
    lease_until      timestamptz,
    last_error       text,
    created_at       timestamptz NOT NULL DEFAULT now(),
    crashes          smallint    NOT NULL DEFAULT 0,
    finished_at      timestamptz,

    CONSTRAINT schedules_schedule_type_check CHECK (schedule_type IN ('once', 'cron', 'local')),
    CONSTRAINT schedules_time_check CHECK (CASE schedule_type
        WHEN 'once' THEN once_at IS NOT NULL AND num_nonnulls(local_at, cron_expression) = 0
        WHEN 'cron' THEN cron_expression IS NOT NULL AND num_nonnulls(local_at, once_at) = 0
        ELSE num_nonnulls(local_at, cron_expression) = 1 AND once_at IS NULL END),
    CONSTRAINT schedules_message_check CHECK (jsonb_typeof(message) = 'object'),
    CONSTRAINT schedules_recipients_check CHECK (jsonb_typeof(recipients) = 'array'),
    CONSTRAINT schedules_missed_check CHECK (missed IN ('skip', 'latest', 'all')),
    CONSTRAINT schedules_overlap_check CHECK (overlap IN ('skip', 'queue')),
    CONSTRAINT schedules_spread_seconds_check CHECK (spread_seconds BETWEEN 0 AND 604800),
    CONSTRAINT schedules_max_runs_check CHECK (max_runs BETWEEN 1 AND 1000000),
    CONSTRAINT schedules_run_count_check CHECK (run_count BETWEEN 0 AND 2000000000),
    CONSTRAINT schedules_status_check
        CHECK (status IN ('pending', 'assigned', 'completed', 'paused', 'cancelled', 'failed')),
    CONSTRAINT schedules_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL))
) WITH (fillfactor = 70);
CREATE INDEX schedules_claim_idx ON mailqueue.schedules (project_id, run_at, id) WHERE status = 'pending';
CREATE INDEX schedules_lease_idx ON mailqueue.schedules (lease_until) WHERE status = 'assigned';
CREATE INDEX schedules_suspect_idx ON mailqueue.schedules (run_at) WHERE status = 'pending' AND crashes > 0;
CREATE INDEX schedules_project_idx ON mailqueue.schedules (project_id, id);
CREATE INDEX schedules_unfinished_idx ON mailqueue.schedules (project_id, is_test, (schedule_type = 'once'))
    WHERE finished_at IS NULL;
CREATE INDEX schedules_finished_at_idx ON mailqueue.schedules (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX schedules_release_idx ON mailqueue.schedules (zone_release, id)
    WHERE finished_at IS NULL AND cron_expression IS NOT NULL;
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX schedules_name_idx ON mailqueue.schedules (project_id, is_test, name)
    WHERE finished_at IS NULL AND name IS NOT NULL;
COMMENT ON TABLE mailqueue.schedules IS
    'Mail that is made at a time: once, by a cron expression, or at a time of day on the clock of each recipient.';

CREATE TABLE mailqueue.schedule_runs (
    id             uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id     uuid        NOT NULL REFERENCES mailqueue.projects (id),
    schedule_id    uuid        NOT NULL REFERENCES mailqueue.schedules (id) ON DELETE CASCADE,
    number         integer     NOT NULL,
    occurrence     timestamptz NOT NULL,
    -- squawk-ignore prefer-timestamp-tz
    local_time     timestamp,                                -- the occurrence on the clock of the schedule
    started_by     text        NOT NULL DEFAULT 'schedule',
    message        jsonb,                                    -- as it was when the run began, while it is expanded
    recipients     jsonb,
    place          integer     NOT NULL DEFAULT 0,           -- elements of recipients that are done
    after_contact  uuid,                                     -- of the list at that place
    queued         bigint      NOT NULL DEFAULT 0,
    suppressed     bigint      NOT NULL DEFAULT 0,
    rejected       bigint      NOT NULL DEFAULT 0,
    by_zone_source jsonb,                                    -- recipients by where their time zone is from
    batch_ids      uuid[]      NOT NULL DEFAULT '{}',
    stop_requested_at timestamptz,
    is_test        boolean     NOT NULL DEFAULT false,

    -- Queue contract: these columns stand in every queue table.
    status         text        NOT NULL DEFAULT 'pending',
    priority       smallint    NOT NULL DEFAULT 2,
    run_at         timestamptz NOT NULL DEFAULT now(),
    attempts       smallint    NOT NULL DEFAULT 0,
    max_attempts   smallint    NOT NULL DEFAULT 100,
    claim_no       bigint,
    worker_id      integer,
    assigned_at    timestamptz,
    lease_until    timestamptz,
    last_error     text,
    created_at     timestamptz NOT NULL DEFAULT now(),
    crashes        smallint    NOT NULL DEFAULT 0,
    finished_at    timestamptz,

    CONSTRAINT schedule_runs_schedule_id_occurrence_key UNIQUE (schedule_id, occurrence),
    CONSTRAINT schedule_runs_schedule_id_number_key UNIQUE (schedule_id, number),
    CONSTRAINT schedule_runs_counts_check CHECK (queued < 4000000000000000000 AND suppressed < 4000000000000000000
        AND rejected < 4000000000000000000 AND number < 2000000000 AND place < 2000000000),
    CONSTRAINT schedule_runs_started_by_check CHECK (started_by IN ('schedule', 'request')),
    CONSTRAINT schedule_runs_status_check CHECK (status IN ('pending', 'assigned', 'done', 'cancelled', 'failed')),
    CONSTRAINT schedule_runs_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL))
) WITH (fillfactor = 70);
CREATE INDEX schedule_runs_claim_idx ON mailqueue.schedule_runs (project_id, run_at, id) WHERE status = 'pending';
CREATE INDEX schedule_runs_lease_idx ON mailqueue.schedule_runs (lease_until) WHERE status = 'assigned';
CREATE INDEX schedule_runs_suspect_idx ON mailqueue.schedule_runs (run_at) WHERE status = 'pending' AND crashes > 0;
CREATE INDEX schedule_runs_unfinished_idx ON mailqueue.schedule_runs (schedule_id)
    WHERE status IN ('pending', 'assigned');
CREATE INDEX schedule_runs_failed_idx ON mailqueue.schedule_runs (finished_at) WHERE status = 'failed';
CREATE INDEX schedule_runs_created_at_idx ON mailqueue.schedule_runs (created_at);
CREATE INDEX schedule_runs_project_idx ON mailqueue.schedule_runs (project_id, id);
COMMENT ON TABLE mailqueue.schedule_runs IS
    'Runs of schedules, one for each occurrence, with the batches of mail that each has made.';

CREATE TABLE mailqueue.schedule_recipients (
    run_id       uuid        NOT NULL REFERENCES mailqueue.schedule_runs (id) ON DELETE CASCADE,
    email_key    text        NOT NULL,                       -- as addresses are compared
    project_id   uuid        NOT NULL REFERENCES mailqueue.projects (id),
    email_id     uuid,
    status       text        NOT NULL,
    reason       text,
    send_at      timestamptz,
    time_zone    text,
    zone_source  text,
    created_at   timestamptz NOT NULL DEFAULT now(),

    PRIMARY KEY (run_id, email_key),
    CONSTRAINT schedule_recipients_status_check CHECK (status IN ('queued', 'suppressed', 'rejected', 'duplicate')),
    CONSTRAINT schedule_recipients_zone_source_check
        CHECK (zone_source IN ('recipient', 'contact', 'country', 'project'))
);
CREATE INDEX schedule_recipients_created_at_idx ON mailqueue.schedule_recipients (created_at);
COMMENT ON TABLE mailqueue.schedule_recipients IS
    'Recipients of a run that is made in parts: one mail for each, however often a part is repeated.';
