-- 0007_events.sql
-- Adds:    email_events
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.email_events (
    id                 uuid        NOT NULL DEFAULT mailqueue.uuidv7(),
    occurred_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    project_id         uuid        NOT NULL,
    email_id           uuid        NOT NULL,
    type               text        NOT NULL,
    recipient_email    text,
    sender_account_id  integer,
    detail             text,

    CONSTRAINT email_events_pkey PRIMARY KEY (id, occurred_at),
    CONSTRAINT email_events_type_check CHECK (type IN ('queued', 'sent', 'delivered', 'hard_bounce',
        'soft_bounce', 'complaint', 'opened', 'clicked', 'unsubscribed', 'failed', 'deferred', 'suppressed',
        'expired', 'cancelled', 'held', 'resolved'))
) PARTITION BY RANGE (occurred_at);
CREATE INDEX email_events_email_idx ON mailqueue.email_events (email_id);
COMMENT ON TABLE mailqueue.email_events IS
    'What happened to mails beside being sent (each attempt is in send_logs). Partitioned by month.';
