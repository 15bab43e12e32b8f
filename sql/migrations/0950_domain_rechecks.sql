-- 0950_domain_rechecks.sql
-- Adds:    domain_rechecks: the domains that keys sign for, each looked up in DNS once a day; domain_checks by age
-- Running workers: go on; workers of this release look the domains up
-- Locks:   domain_checks and dkim_keys for a moment

CREATE TABLE mailqueue.domain_rechecks (
    id           uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id   uuid        NOT NULL REFERENCES mailqueue.projects (id),
    domain       text        NOT NULL,
    checked_at   timestamptz,                               -- NULL: not yet, or no key signs for it any more
    dkim         text,
    spf          text,
    dmarc        text,

    -- Queue contract: these columns stand in every queue table.
    status       text        NOT NULL DEFAULT 'pending',
    priority     smallint    NOT NULL DEFAULT 2,
    run_at       timestamptz NOT NULL DEFAULT now(),
    attempts     smallint    NOT NULL DEFAULT 0,
    max_attempts smallint    NOT NULL DEFAULT 20,
    claim_no     bigint,
    worker_id    integer,
    assigned_at  timestamptz,
    lease_until  timestamptz,
    last_error   text,
    created_at   timestamptz NOT NULL DEFAULT now(),
    crashes      smallint    NOT NULL DEFAULT 0,
    finished_at  timestamptz,

    CONSTRAINT domain_rechecks_project_id_domain_key UNIQUE (project_id, domain),
    CONSTRAINT domain_rechecks_domain_check CHECK (domain = lower(domain)),
    CONSTRAINT domain_rechecks_dkim_check CHECK (dkim IN ('pass', 'warn', 'fail', 'unknown')),
    CONSTRAINT domain_rechecks_spf_check CHECK (spf IN ('pass', 'warn', 'fail', 'unknown')),
    CONSTRAINT domain_rechecks_dmarc_check CHECK (dmarc IN ('pass', 'warn', 'fail', 'unknown')),
    CONSTRAINT domain_rechecks_status_check CHECK (status IN ('pending', 'assigned', 'checked', 'failed')),
    CONSTRAINT domain_rechecks_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL))
);
CREATE INDEX domain_rechecks_claim_idx ON mailqueue.domain_rechecks (project_id, run_at, id) WHERE status = 'pending';
CREATE INDEX domain_rechecks_lease_idx ON mailqueue.domain_rechecks (lease_until) WHERE status = 'assigned';
CREATE INDEX domain_rechecks_suspect_idx ON mailqueue.domain_rechecks (run_at) WHERE status = 'pending' AND crashes > 0;
CREATE INDEX domain_rechecks_failed_idx ON mailqueue.domain_rechecks (finished_at) WHERE status = 'failed';
CREATE INDEX domain_rechecks_fault_idx ON mailqueue.domain_rechecks (domain)
 WHERE dkim = 'fail' OR spf = 'fail' OR dmarc = 'fail';
COMMENT ON TABLE mailqueue.domain_rechecks IS
    'Domains that keys sign for, each looked up in DNS once a day, with the states of the newest check.';

-- Those that exist are looked up within a day, not all at once.
INSERT INTO mailqueue.domain_rechecks (project_id, domain, run_at)
SELECT k.project_id, k.domain, now() + random() * interval '1 day'
  FROM mailqueue.dkim_keys AS k
 GROUP BY k.project_id, k.domain;

-- squawk-ignore require-concurrent-index-creation
CREATE INDEX domain_checks_checked_at_idx ON mailqueue.domain_checks (checked_at);
