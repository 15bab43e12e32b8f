-- 0510_ab_tests.sql
-- Adds:    ab_tests, ab_test_variants, ab_test_recipients: tests of variants of one mail, which a queue worker evaluates
-- Running workers: not affected; workers of this release evaluate the tests
-- Locks:   none on existing tables

CREATE TABLE mailqueue.ab_tests (
    id              uuid             NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id      uuid             NOT NULL REFERENCES mailqueue.projects (id),
    name            text             NOT NULL,
    is_test         boolean          NOT NULL,
    metric          text             NOT NULL DEFAULT 'open_rate',
    alpha           double precision NOT NULL DEFAULT 0.05,
    evaluate_after  interval         NOT NULL DEFAULT '24 hours',
    min_sample      integer          NOT NULL DEFAULT 100,
    sample_percent  smallint         NOT NULL DEFAULT 100,
    if_none         text             NOT NULL DEFAULT 'first',
    options         jsonb            NOT NULL,
    assignment_key  uuid,                                   -- NULL: deleted, the test is over
    requested_by    text             NOT NULL,
    started_at      timestamptz,                            -- NULL: no recipient yet
    result          text,                                   -- NULL: not decided
    winner          smallint,                               -- NULL: none
    decided_at      timestamptz,
    decided_by      text,                                   -- NULL: by the evaluation
    cancelled_by    text,

    -- Queue contract: these columns stand in every queue table.
    status          text             NOT NULL DEFAULT 'pending',
    priority        smallint         NOT NULL DEFAULT 2,
    run_at          timestamptz      NOT NULL DEFAULT now(),
    attempts        smallint         NOT NULL DEFAULT 0,
    max_attempts    smallint         NOT NULL DEFAULT 20,
    claim_no        bigint,
    worker_id       integer,
    assigned_at     timestamptz,
    lease_until     timestamptz,
    last_error      text,
    created_at      timestamptz      NOT NULL DEFAULT now(),
    crashes         smallint         NOT NULL DEFAULT 0,
    finished_at     timestamptz,

    CONSTRAINT ab_tests_metric_check CHECK (metric IN ('open_rate', 'click_rate')),
    CONSTRAINT ab_tests_alpha_check CHECK (alpha BETWEEN 0.0001 AND 0.5),
    CONSTRAINT ab_tests_evaluate_after_check CHECK (evaluate_after BETWEEN '1 min' AND '30 days'),
    CONSTRAINT ab_tests_min_sample_check CHECK (min_sample >= 1),
    CONSTRAINT ab_tests_sample_percent_check CHECK (sample_percent BETWEEN 1 AND 100),
    CONSTRAINT ab_tests_if_none_check CHECK (if_none IN ('first', 'shares')),
    CONSTRAINT ab_tests_result_check CHECK (result IN ('winner', 'no_difference', 'too_few', 'by_hand')
                                            AND (result IS NULL) = (decided_at IS NULL)),
    CONSTRAINT ab_tests_winner_check CHECK ((winner IS NOT NULL) = coalesce(result IN ('winner', 'by_hand'), false)),
    CONSTRAINT ab_tests_status_check CHECK (status IN ('pending', 'assigned', 'completed', 'cancelled', 'failed')),
    CONSTRAINT ab_tests_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL))
);
CREATE INDEX ab_tests_claim_idx ON mailqueue.ab_tests (project_id, run_at, id) WHERE status = 'pending';
CREATE INDEX ab_tests_lease_idx ON mailqueue.ab_tests (lease_until) WHERE status = 'assigned';
CREATE INDEX ab_tests_suspect_idx ON mailqueue.ab_tests (run_at) WHERE status = 'pending' AND crashes > 0;
CREATE INDEX ab_tests_project_idx ON mailqueue.ab_tests (project_id, id);
CREATE INDEX ab_tests_created_at_idx ON mailqueue.ab_tests (created_at);
COMMENT ON TABLE mailqueue.ab_tests IS
    'Tests of two to four variants of one mail: what was fixed before the start, and the answer.';

CREATE TABLE mailqueue.ab_test_variants (
    ab_test_id  uuid             NOT NULL REFERENCES mailqueue.ab_tests (id) ON DELETE CASCADE,
    number      smallint         NOT NULL,
    project_id  uuid             NOT NULL,
    name        text             NOT NULL,
    share       smallint         NOT NULL,
    contents    jsonb            NOT NULL,                  -- as accept_shared() takes them
    languages   text[]           NOT NULL,                  -- of contents, in their order; '{}': not of a template
    sent        bigint,                                     -- NULL: not decided
    opened      bigint,
    clicked     bigint,
    p_value     double precision,                           -- NULL: not compared

    CONSTRAINT ab_test_variants_pkey PRIMARY KEY (ab_test_id, number),
    CONSTRAINT ab_test_variants_ab_test_id_name_key UNIQUE (ab_test_id, name),
    CONSTRAINT ab_test_variants_number_check CHECK (number BETWEEN 1 AND 4),
    CONSTRAINT ab_test_variants_share_check CHECK (share BETWEEN 1 AND 99),
    CONSTRAINT ab_test_variants_counts_check
        CHECK ((sent IS NULL) = (opened IS NULL) AND (sent IS NULL) = (clicked IS NULL))
);
COMMENT ON TABLE mailqueue.ab_test_variants IS
    'Variants of A/B tests, with the counts that decided.';

CREATE TABLE mailqueue.ab_test_recipients (
    ab_test_id  uuid      NOT NULL REFERENCES mailqueue.ab_tests (id) ON DELETE CASCADE,
    place       uuid      NOT NULL,                         -- keyed hash of the address
    project_id  uuid      NOT NULL,
    is_sample   boolean   NOT NULL,
    variant     smallint  NOT NULL,
    recipient   jsonb,                                      -- NULL: it waits no more
    outcome     text,                                       -- NULL: waits for the decision
    email_id    uuid,
    reason      text,

    CONSTRAINT ab_test_recipients_pkey PRIMARY KEY (ab_test_id, place),
    CONSTRAINT ab_test_recipients_outcome_check
        CHECK (outcome IN ('accepted', 'suppressed', 'rejected', 'cancelled')),
    CONSTRAINT ab_test_recipients_email_check
        CHECK ((email_id IS NOT NULL) = coalesce(outcome IN ('accepted', 'suppressed'), false))
);
CREATE INDEX ab_test_recipients_waiting_idx ON mailqueue.ab_test_recipients (ab_test_id, place) WHERE outcome IS NULL;
COMMENT ON TABLE mailqueue.ab_test_recipients IS
    'Recipients of A/B tests: those of the sample with their variant and mail, the others until the decision.';
