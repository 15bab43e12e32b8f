-- 0044_dressing_gaps.sql
-- Adds:    dressing_gaps
-- Running workers: go on
-- Locks:   none on existing tables

CREATE TABLE mailqueue.dressing_gaps (
    project_id  uuid        NOT NULL,
    gap         text        NOT NULL,
    day         date        NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
    emails      bigint      NOT NULL,
    seen_at     timestamptz NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT dressing_gaps_pkey PRIMARY KEY (project_id, gap, day),
    CONSTRAINT dressing_gaps_gap_check CHECK (gap IN ('no_unsubscribe', 'no_public_url', 'no_postal_address'))
);
COMMENT ON TABLE mailqueue.dressing_gaps IS
    'What mail should have had and went without, counted by workers for each day: marketing without a way to unsubscribe or a postal address, and tracked mail whose links lead nowhere.';
