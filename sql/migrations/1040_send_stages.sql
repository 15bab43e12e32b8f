-- 1040_send_stages.sql
-- Adds:    send_stages: when workers claimed, composed and handed over emails whose spans are exported
-- Running workers: not affected; attempts by those of an earlier release have fewer spans
-- Locks:   none on existing tables

-- Unlogged: after a crash, attempts that were not exported yet have fewer spans.
CREATE UNLOGGED TABLE mailqueue.send_stages (
    email_id     uuid        NOT NULL,
    noted_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    claimed_ms   integer     NOT NULL,                       -- all before noted_at
    begun_ms     integer     NOT NULL,
    composed_ms  integer     NOT NULL,
    answered_ms  integer     NOT NULL,

    CONSTRAINT send_stages_pkey PRIMARY KEY (email_id, noted_at)
);
CREATE INDEX send_stages_noted_idx ON mailqueue.send_stages (noted_at);
COMMENT ON TABLE mailqueue.send_stages IS
    'What workers did at attempts of emails whose spans are exported; the exporter deletes them after two days.';
