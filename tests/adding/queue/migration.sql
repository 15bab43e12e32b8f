-- {file}
-- Adds:    suppression_requests, addresses that are suppressed at a time that was asked for
-- Running workers: not affected
-- Locks:   none

CREATE TABLE mailqueue.suppression_requests (
    id            uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id    uuid        NOT NULL REFERENCES mailqueue.projects (id),
    address       text        NOT NULL,
    outcome       text,                                      -- NULL until it is done

    -- Queue contract: these columns stand in every queue table.
    status        text        NOT NULL DEFAULT 'pending',
    priority      smallint    NOT NULL DEFAULT 2,
    run_at        timestamptz NOT NULL DEFAULT now(),
    attempts      smallint    NOT NULL DEFAULT 0,
    max_attempts  smallint    NOT NULL DEFAULT 6,
    claim_no      bigint,
    worker_id     integer,
    assigned_at   timestamptz,
    lease_until   timestamptz,
    last_error    text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    crashes       smallint    NOT NULL DEFAULT 0,
    finished_at   timestamptz,

    CONSTRAINT suppression_requests_status_check CHECK (status IN ('pending', 'assigned', 'done', 'failed')),
    CONSTRAINT suppression_requests_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL))
);
CREATE INDEX suppression_requests_claim_idx ON mailqueue.suppression_requests (run_at, id) WHERE status = 'pending';
CREATE INDEX suppression_requests_lease_idx ON mailqueue.suppression_requests (lease_until) WHERE status = 'assigned';
CREATE INDEX suppression_requests_suspect_idx ON mailqueue.suppression_requests (run_at)
    WHERE status = 'pending' AND crashes > 0;
CREATE INDEX suppression_requests_failed_idx ON mailqueue.suppression_requests (finished_at) WHERE status = 'failed';
CREATE INDEX suppression_requests_age_idx ON mailqueue.suppression_requests (created_at);
COMMENT ON TABLE mailqueue.suppression_requests IS 'Addresses that are suppressed at run_at.';
COMMENT ON COLUMN mailqueue.suppression_requests.id IS 'Id of the request.';
COMMENT ON COLUMN mailqueue.suppression_requests.address IS 'Address to suppress.';
COMMENT ON COLUMN mailqueue.suppression_requests.outcome IS 'What became of the request: added, kept, ….';
