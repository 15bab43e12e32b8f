-- 0170_stats.sql
-- Adds:    stats_minutes, stats_quarters, stats_latency, stats_values, stats_accounts, stats_corrections, stats_state:
--          counts of mail and events, kept by a queue worker from what history, log and events say
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.stats_minutes (
    project_id              uuid        NOT NULL,           -- all zero: all projects
    is_test                 boolean     NOT NULL,
    dimension               text        NOT NULL,
    value                   text        NOT NULL,
    value2                  text        NOT NULL,
    started_at              timestamptz NOT NULL,
    accepted                bigint      NOT NULL DEFAULT 0,
    sent                    bigint      NOT NULL DEFAULT 0,
    failed                  bigint      NOT NULL DEFAULT 0,
    expired                 bigint      NOT NULL DEFAULT 0,
    suppressed              bigint      NOT NULL DEFAULT 0,
    cancelled               bigint      NOT NULL DEFAULT 0,
    delivered               bigint      NOT NULL DEFAULT 0,
    soft_bounces            bigint      NOT NULL DEFAULT 0,
    hard_bounces            bigint      NOT NULL DEFAULT 0,
    complaints              bigint      NOT NULL DEFAULT 0,
    unsubscribes            bigint      NOT NULL DEFAULT 0,
    opens                   bigint      NOT NULL DEFAULT 0,
    unique_opens            bigint      NOT NULL DEFAULT 0,
    machine_opens           bigint      NOT NULL DEFAULT 0,
    unique_machine_opens    bigint      NOT NULL DEFAULT 0,
    clicks                  bigint      NOT NULL DEFAULT 0,
    unique_clicks           bigint      NOT NULL DEFAULT 0,
    machine_clicks          bigint      NOT NULL DEFAULT 0,
    unique_machine_clicks   bigint      NOT NULL DEFAULT 0,

    CONSTRAINT stats_minutes_pkey PRIMARY KEY (project_id, dimension, value, value2, is_test, started_at)
) WITH (fillfactor = 80);
CREATE INDEX stats_minutes_started_at_idx ON mailqueue.stats_minutes (started_at);
COMMENT ON TABLE mailqueue.stats_minutes IS
    'Counts of mail and events in each minute, of a project or of all, by dimension.';

CREATE TABLE mailqueue.stats_quarters (
    LIKE mailqueue.stats_minutes INCLUDING DEFAULTS,
    CONSTRAINT stats_quarters_pkey PRIMARY KEY (project_id, dimension, value, value2, is_test, started_at)
) WITH (fillfactor = 80);
CREATE INDEX stats_quarters_started_at_idx ON mailqueue.stats_quarters (started_at);
COMMENT ON TABLE mailqueue.stats_quarters IS
    'The counts of stats_minutes by quarter of an hour, of which the hours and days of every time zone consist.';

CREATE TABLE mailqueue.stats_latency (
    project_id         uuid        NOT NULL,
    is_test            boolean     NOT NULL,
    sender_account_id  integer     NOT NULL,
    started_at         timestamptz NOT NULL,
    up_to_ms           integer     NOT NULL,
    attempts           bigint      NOT NULL,

    CONSTRAINT stats_latency_pkey PRIMARY KEY (project_id, sender_account_id, is_test, started_at, up_to_ms)
) WITH (fillfactor = 80);
CREATE INDEX stats_latency_started_at_idx ON mailqueue.stats_latency (started_at);
COMMENT ON TABLE mailqueue.stats_latency IS
    'How long servers took to answer: attempts of each quarter of an hour and sender account, by time.';

CREATE TABLE mailqueue.stats_values (
    project_id  uuid    NOT NULL,
    is_test     boolean NOT NULL,
    day         date    NOT NULL,                            -- UTC
    dimension   text    NOT NULL,
    value       text    NOT NULL,
    value2      text    NOT NULL,

    CONSTRAINT stats_values_pkey PRIMARY KEY (project_id, is_test, day, dimension, value, value2)
);
CREATE INDEX stats_values_day_idx ON mailqueue.stats_values (day);
COMMENT ON TABLE mailqueue.stats_values IS
    'Values of a dimension that have counts of their own on a day; others are counted together.';

CREATE TABLE mailqueue.stats_accounts (
    sender_account_id  integer     NOT NULL PRIMARY KEY,
    project_id         uuid        NOT NULL,
    name               text        NOT NULL,
    provider           text        NOT NULL,
    tells_since        timestamptz                           -- NULL: it has not told of any delivery
);
COMMENT ON TABLE mailqueue.stats_accounts IS
    'Sender accounts with counts, also after they are removed, and whether they tell of deliveries.';

CREATE TABLE mailqueue.stats_corrections (
    id                 bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id         uuid        NOT NULL,
    email_id           uuid        NOT NULL,
    kind               text        NOT NULL,
    known_at           timestamptz,                          -- removed: when its outcome was written
    status             text,
    is_test            boolean,
    created_at         timestamptz,
    finished_at        timestamptz,
    sender_account_id  integer,
    event_ids          uuid[],                               -- judged: clicks that turned out to be a program's
    domain             text,                                 -- erased: domain of the recipient before

    CONSTRAINT stats_corrections_kind_check CHECK (kind IN ('removed', 'judged', 'erased'))
);
COMMENT ON TABLE mailqueue.stats_corrections IS
    'Changes of what is counted already: mail queued again, clicks found to be made by programs, erased recipients.';

CREATE TABLE mailqueue.stats_state (
    id             uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    name           text        NOT NULL,
    folded_to      timestamptz NOT NULL,                     -- what was written before is counted
    horizon        timestamptz NOT NULL,                     -- no transaction commits what was written before
    open_writers   text[]      NOT NULL DEFAULT '{}',        -- transactions that the horizon waits for
    step           interval    NOT NULL DEFAULT '1 hour',
    counted_at     timestamptz,                              -- last time that something was found to count
    rebuilt_from   timestamptz,                              -- NULL: nothing is counted anew
    rebuilt_to     timestamptz,
    is_cleared     boolean     NOT NULL DEFAULT true,        -- whether the old counts of that are deleted
    project_id     uuid,                                     -- always NULL

    -- Queue contract: these columns stand in every queue table.
    status        text        NOT NULL DEFAULT 'pending',
    priority      smallint    NOT NULL DEFAULT 2,
    run_at        timestamptz NOT NULL DEFAULT now(),
    attempts      smallint    NOT NULL DEFAULT 0,
    max_attempts  smallint    NOT NULL DEFAULT 30000,        -- counting is never given up
    claim_no      bigint,
    worker_id     integer,
    assigned_at   timestamptz,
    lease_until   timestamptz,
    last_error    text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    crashes       smallint    NOT NULL DEFAULT 0,
    finished_at   timestamptz,

    CONSTRAINT stats_state_name_key UNIQUE (name),
    CONSTRAINT stats_state_status_check CHECK (status IN ('pending', 'assigned', 'failed')),
    CONSTRAINT stats_state_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL)),
    CONSTRAINT stats_state_rebuilt_check CHECK ((rebuilt_from IS NULL) = (rebuilt_to IS NULL))
) WITH (fillfactor = 50);
CREATE INDEX stats_state_claim_idx ON mailqueue.stats_state (run_at, id) WHERE status = 'pending';
CREATE INDEX stats_state_lease_idx ON mailqueue.stats_state (lease_until) WHERE status = 'assigned';
CREATE INDEX stats_state_suspect_idx ON mailqueue.stats_state (run_at) WHERE status = 'pending' AND crashes > 0;
COMMENT ON TABLE mailqueue.stats_state IS 'Up to which time mail and events are counted: one row.';

-- History that is there already is counted from its beginning.
INSERT INTO mailqueue.stats_state (name, folded_to, horizon)
SELECT 'all', s.since, s.since
  FROM (SELECT date_trunc('day', least(now(), (SELECT min(h.created_at) FROM mailqueue.email_history AS h)), 'UTC')
               AS since) AS s;

CREATE TYPE mailqueue.stats_fact AS (
    known_at   timestamptz,                                  -- when it was written
    at         timestamptz,                                  -- when it happened
    project_id uuid,
    is_test    boolean,
    campaign   text,
    template   uuid,
    version    uuid,
    category   text,
    tags       text[],
    account    integer,
    domain     text,
    link       text,
    metric     text,
    n          integer
);
