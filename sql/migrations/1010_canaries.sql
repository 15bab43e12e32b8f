-- 1010_canaries.sql
-- Adds:    canaries: sender accounts by which a small email is sent at an interval, so that its absence is noticed
-- Running workers: not affected; workers of this release send the emails
-- Locks:   projects and sender_accounts for a moment: writers wait (SHARE ROW EXCLUSIVE of the two references)

CREATE TABLE mailqueue.canaries (
    id                 uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id         uuid        NOT NULL REFERENCES mailqueue.projects (id),
    sender_account_id  integer     NOT NULL REFERENCES mailqueue.sender_accounts (id) ON DELETE CASCADE,
    recipient          text        NOT NULL,
    every              interval    NOT NULL DEFAULT '1 min',
    email_ids          uuid[]      NOT NULL DEFAULT '{}',    -- the newest 60, newest first
    set_up_at          timestamptz NOT NULL DEFAULT now(),   -- or changed

    -- Queue contract: these columns stand in every queue table.
    status       text        NOT NULL DEFAULT 'pending',
    priority     smallint    NOT NULL DEFAULT 2,
    run_at       timestamptz NOT NULL DEFAULT now(),
    attempts     smallint    NOT NULL DEFAULT 0,
    max_attempts smallint    NOT NULL DEFAULT 30000,         -- never given up
    claim_no     bigint,
    worker_id    integer,
    assigned_at  timestamptz,
    lease_until  timestamptz,
    last_error   text,
    created_at   timestamptz NOT NULL DEFAULT now(),
    crashes      smallint    NOT NULL DEFAULT 0,
    finished_at  timestamptz,

    CONSTRAINT canaries_sender_account_id_key UNIQUE (sender_account_id),
    CONSTRAINT canaries_every_check CHECK (every BETWEEN '1 min' AND '1 day'),
    CONSTRAINT canaries_email_ids_check CHECK (cardinality(email_ids) <= 60),
    CONSTRAINT canaries_status_check CHECK (status IN ('pending', 'assigned', 'done', 'failed')),
    CONSTRAINT canaries_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL))
) WITH (fillfactor = 50);
CREATE INDEX canaries_claim_idx ON mailqueue.canaries (run_at, id) WHERE status = 'pending';
CREATE INDEX canaries_lease_idx ON mailqueue.canaries (lease_until) WHERE status = 'assigned';
CREATE INDEX canaries_suspect_idx ON mailqueue.canaries (run_at) WHERE status = 'pending' AND crashes > 0;
COMMENT ON TABLE mailqueue.canaries IS
    'Sender accounts by which a small email is sent at an interval, so that its absence is noticed.';
