-- 0006_mail.sql
-- Adds:    email_contents, lanes and what turns them, email_queue, email_recipients, email_history, send_logs
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE SEQUENCE mailqueue.email_contents_id_seq;
CREATE TABLE mailqueue.email_contents (
    id          bigint      NOT NULL DEFAULT nextval('mailqueue.email_contents_id_seq'),
    created_on  date        NOT NULL,
    project_id  uuid        NOT NULL,
    subject     text        NOT NULL,
    html_body   text,                                       -- NULL: text only
    text_body   text,                                       -- NULL: HTML only
    from_email  text,                                       -- NULL: the sender account's, else the project's
    from_name   text,
    reply_to    text,
    headers     jsonb,                                      -- further headers, name to value

    CONSTRAINT email_contents_pkey PRIMARY KEY (id, created_on),
    CONSTRAINT email_contents_body_check CHECK (html_body IS NOT NULL OR text_body IS NOT NULL)
) PARTITION BY RANGE (created_on);
ALTER TABLE mailqueue.email_contents
    ALTER COLUMN html_body SET STORAGE EXTERNAL,
    ALTER COLUMN text_body SET STORAGE EXTERNAL;
COMMENT ON TABLE mailqueue.email_contents IS
    'What mails say, written once and never moved. Mails of one batch call share a row.';

CREATE TABLE mailqueue.lanes (
    id              integer     GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id      uuid        NOT NULL,
    priority        smallint    NOT NULL,                   -- 0 critical to 3 low
    route           text        NOT NULL DEFAULT '',        -- '': the project's accounts in order; else one account's name
    weight          integer     NOT NULL DEFAULT 100,
    project_limit   integer     NOT NULL,
    account_limits  integer[]   NOT NULL,                   -- candidates in order of preference
    vtime           bigint      NOT NULL DEFAULT 0,         -- rows taken over weight: who is lowest has the turn
    due_floor       timestamptz NOT NULL DEFAULT '-infinity',  -- nothing due before it is left
    probed_at       timestamptz NOT NULL DEFAULT '-infinity',  -- last look below the floor
    blocked_until   timestamptz DEFAULT 'infinity',         -- NULL: ready
    blocked_reason  text        DEFAULT 'empty',

    CONSTRAINT lanes_project_id_priority_route_key UNIQUE (project_id, priority, route),
    CONSTRAINT lanes_priority_check CHECK (priority BETWEEN 0 AND 3),
    CONSTRAINT lanes_weight_check CHECK (weight > 0),
    CONSTRAINT lanes_blocked_check CHECK ((blocked_until IS NULL) = (blocked_reason IS NULL)),
    CONSTRAINT lanes_reason_check CHECK (blocked_reason IN ('empty', 'not_due', 'recheck', 'daily_limit',
        'rate', 'paused', 'suspended', 'unreachable', 'no_sender'))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX lanes_ready_idx ON mailqueue.lanes (priority, vtime, id) WHERE blocked_until IS NULL;
CREATE INDEX lanes_blocked_idx ON mailqueue.lanes (blocked_until) WHERE blocked_until IS NOT NULL;
COMMENT ON TABLE mailqueue.lanes IS
    'The queue of one project, priority and route. A lane is ready, or blocked as a whole until a moment for a reason; blocked lanes cost nothing.';

CREATE TABLE mailqueue.lane_classes (
    priority  smallint    NOT NULL PRIMARY KEY,
    vclock    bigint      NOT NULL DEFAULT 0,               -- floor of the ready lanes' vtime
    moved_at  timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 20);
INSERT INTO mailqueue.lane_classes (priority) SELECT p FROM generate_series(0, 3) AS p;
COMMENT ON TABLE mailqueue.lane_classes IS 'Virtual clock of each priority class; lanes that fill again start from it.';

CREATE TABLE mailqueue.lane_signals (
    id           bigint      GENERATED ALWAYS AS IDENTITY,
    lane_id      integer     NOT NULL,
    due_at       timestamptz NOT NULL,
    emails       integer     NOT NULL DEFAULT 0,            -- newly accepted; 0 when mail only came back
    accepted_on  date        NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
    xid          xid8        NOT NULL DEFAULT pg_current_xact_id()
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX lane_signals_order_idx ON mailqueue.lane_signals (xid, id);
COMMENT ON TABLE mailqueue.lane_signals IS
    'Written in the transaction that makes mail pending, consumed by gather_lanes(): wakes the lane and carries the count of accepted mail to accepted_days.';

CREATE TABLE mailqueue.lane_gather (
    is_only       boolean NOT NULL DEFAULT true PRIMARY KEY,
    signal_floor  xid8    NOT NULL DEFAULT '0',             -- no signal below it is left or will come

    CONSTRAINT lane_gather_only_check CHECK (is_only)
) WITH (fillfactor = 20);
INSERT INTO mailqueue.lane_gather DEFAULT VALUES;
COMMENT ON TABLE mailqueue.lane_gather IS 'Where gather_lanes() starts reading signals. One row.';

CREATE TABLE mailqueue.accepted_days (
    project_id  uuid    NOT NULL,
    day         date    NOT NULL,
    emails      bigint  NOT NULL,

    CONSTRAINT accepted_days_pkey PRIMARY KEY (project_id, day)
) WITH (fillfactor = 50);
COMMENT ON TABLE mailqueue.accepted_days IS
    'How many mails each project had accepted on each day (UTC), counted by what the accepting transactions wrote. The books are checked against it.';

CREATE TABLE mailqueue.email_queue (
    id               uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id       uuid        NOT NULL,
    lane_id          integer     NOT NULL,

    -- Queue contract: these columns stand in every queue table.
    status           text        NOT NULL DEFAULT 'pending',
    priority         smallint    NOT NULL DEFAULT 2,        -- 0 critical to 3 low
    run_at           timestamptz NOT NULL DEFAULT now(),    -- never claimed before this
    attempts         smallint    NOT NULL DEFAULT 0,
    max_attempts     smallint    NOT NULL DEFAULT 100,
    claim_no         bigint,                                -- fence: one number a claim, never reused
    worker_id        integer,
    assigned_at      timestamptz,
    lease_until      timestamptz,
    last_error       text,
    created_at       timestamptz NOT NULL DEFAULT now(),

    assigned_to      integer,                               -- sender account that holds its place
    account_day      date,                                  -- day its place is reserved on, account's calendar
    project_day      date,                                  -- the same in the project's calendar
    recipients       smallint    NOT NULL DEFAULT 1,        -- addresses still to be sent to
    unknowns         smallint    NOT NULL DEFAULT 0,        -- times its fate was unknown
    lost_claim_no    bigint,                                -- claim of a lost worker that may still report
    is_cancelled     boolean     NOT NULL DEFAULT false,    -- cancelled while assigned; honoured before sending
    delivery         text        NOT NULL,                  -- when the fate is unknown: resend once, or hold
    category         text        NOT NULL DEFAULT 'transactional',
    expires_at       timestamptz NOT NULL DEFAULT now() + interval '4 days',
    recipient_email  text        NOT NULL,
    recipient_name   text,
    campaign_id      text,
    tags             text[],
    custom_data      jsonb,
    idempotency_key  text,
    content_id       bigint,
    content_on       date,

    -- Only for INSERT and COPY: moved to other tables on the way in, always NULL in the table.
    project          text        DEFAULT 'default',
    sender           text,
    subject          text,
    html_body        text,
    text_body        text,
    from_email       text,
    from_name        text,
    reply_to         text,
    headers          jsonb,
    also_to          text[],
    cc               text[],
    bcc              text[],

    CONSTRAINT email_queue_status_check CHECK (status IN ('pending', 'assigned', 'held')),
    CONSTRAINT email_queue_claim_check CHECK (
        (status = 'assigned') = (claim_no IS NOT NULL AND worker_id IS NOT NULL AND assigned_to IS NOT NULL)),
    CONSTRAINT email_queue_priority_check CHECK (priority BETWEEN 0 AND 3),
    CONSTRAINT email_queue_delivery_check CHECK (delivery IN ('resend', 'hold')),
    CONSTRAINT email_queue_content_check CHECK (content_id IS NOT NULL AND content_on IS NOT NULL),
    CONSTRAINT email_queue_moved_check CHECK (
        num_nonnulls(project, sender, subject, html_body, text_body, from_email, from_name, reply_to,
                     headers, also_to, cc, bcc) = 0)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 20000);
CREATE INDEX email_queue_claim_idx ON mailqueue.email_queue (lane_id, run_at, id) WHERE status = 'pending';
CREATE INDEX email_queue_assigned_idx ON mailqueue.email_queue (worker_id) WHERE status = 'assigned';
CREATE INDEX email_queue_held_idx ON mailqueue.email_queue (project_id, created_at) WHERE status = 'held';
COMMENT ON TABLE mailqueue.email_queue IS
    'Unfinished mail. INSERT here to send; a trigger checks the row, moves subject and bodies to email_contents and refuses bad rows with SQLSTATE 22023. Finished mail is in email_history; view emails shows both.';
COMMENT ON COLUMN mailqueue.email_queue.claim_no IS
    'Number of the claim that holds the row. Writes that name another number change nothing.';

CREATE TABLE mailqueue.email_recipients (
    email_id    uuid        NOT NULL,
    position    smallint    NOT NULL,                       -- 0 is recipient_email of the mail
    project_id  uuid        NOT NULL,
    kind        text        NOT NULL,
    address     text        NOT NULL,
    name        text,
    status      text        NOT NULL DEFAULT 'pending',
    reason      text,
    reply_code  text,
    settled_at  timestamptz,                                -- NULL while pending

    CONSTRAINT email_recipients_pkey PRIMARY KEY (email_id, position),
    CONSTRAINT email_recipients_kind_check CHECK (kind IN ('to', 'cc', 'bcc')),
    CONSTRAINT email_recipients_status_check
        CHECK (status IN ('pending', 'sent', 'failed', 'suppressed', 'expired', 'cancelled'))
);
CREATE INDEX email_recipients_address_idx ON mailqueue.email_recipients (lower(address));
COMMENT ON TABLE mailqueue.email_recipients IS
    'Recipients and their own outcomes, only of mails that have more than one.';

CREATE TABLE mailqueue.email_history (
    id                   uuid        NOT NULL,
    finished_at          timestamptz NOT NULL,
    project_id           uuid        NOT NULL,
    lane_id              integer     NOT NULL,
    status               text        NOT NULL,
    reason               text,                              -- NULL when sent
    priority             smallint    NOT NULL,
    attempts             smallint    NOT NULL,
    max_attempts         smallint    NOT NULL,
    worker_id            integer,
    claim_no             bigint,
    last_error           text,
    created_at           timestamptz NOT NULL,
    assigned_to          integer,                           -- sender account that finished it
    recipients           smallint    NOT NULL,
    unknowns             smallint    NOT NULL,
    delivery             text        NOT NULL,
    category             text        NOT NULL,
    expires_at           timestamptz NOT NULL,
    recipient_email      text        NOT NULL,
    recipient_name       text,
    campaign_id          text,
    tags                 text[],
    custom_data          jsonb,
    idempotency_key      text,
    content_id           bigint      NOT NULL,
    content_on           date        NOT NULL,
    message_id           text,                              -- Message-ID header; NULL when never composed
    provider_message_id  text,

    CONSTRAINT email_history_pkey PRIMARY KEY (id, finished_at),
    CONSTRAINT email_history_status_check
        CHECK (status IN ('sent', 'failed', 'suppressed', 'expired', 'cancelled'))
) PARTITION BY RANGE (finished_at);
CREATE INDEX email_history_recipient_idx ON mailqueue.email_history (lower(recipient_email));
CREATE INDEX email_history_campaign_idx ON mailqueue.email_history (campaign_id) WHERE campaign_id IS NOT NULL;
COMMENT ON TABLE mailqueue.email_history IS 'Finished mail, each with its outcome and reason. Partitioned by month of finishing.';

CREATE TABLE mailqueue.send_logs (
    id                 bigint      GENERATED ALWAYS AS IDENTITY,
    sent_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
    email_id           uuid        NOT NULL,
    project_id         uuid        NOT NULL,
    sender_account_id  integer,
    worker_id          integer,
    attempt            smallint    NOT NULL,
    status             text        NOT NULL,
    recipient_email    text        NOT NULL,
    campaign_id        text,
    message_id         text,
    error_code         text,                                -- reply code, for sent mail too
    enhanced_code      text,
    reply              text,
    response_ms        integer,

    CONSTRAINT send_logs_pkey PRIMARY KEY (id, sent_at),
    CONSTRAINT send_logs_status_check
        CHECK (status IN ('sent', 'failed', 'bounced', 'rejected', 'deferred', 'unknown'))
) PARTITION BY RANGE (sent_at);
CREATE INDEX send_logs_email_idx ON mailqueue.send_logs (email_id);
COMMENT ON TABLE mailqueue.send_logs IS 'A row for each attempt to hand a mail over, with the server''s reply. Partitioned by month.';
