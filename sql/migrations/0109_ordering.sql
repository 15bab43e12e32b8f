-- 0109_ordering.sql
-- Adds:    mail of one key in the order in which it was inserted
-- Running workers: those of earlier releases do not let ordered mail go; projects order none yet
-- Locks:   projects and email_queue for a moment: no row is read or written

ALTER TABLE mailqueue.projects
    ADD COLUMN ordering            text,                     -- project, outboxes or custom_data.NAME; NULL: none
    ADD COLUMN ordering_on_failure text NOT NULL DEFAULT 'continue',
    ADD CONSTRAINT projects_ordering_check CHECK (
        ordering IN ('project', 'outboxes') OR ordering ~ '^custom_data\.[A-Za-z_][A-Za-z0-9_-]{0,62}$') NOT VALID,
    ADD CONSTRAINT projects_ordering_on_failure_check CHECK (ordering_on_failure IN ('continue', 'block')) NOT VALID;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX projects_ordering_idx ON mailqueue.projects (id) WHERE ordering IS NOT NULL;

ALTER TABLE mailqueue.email_queue ADD COLUMN is_ordered boolean;

CREATE TABLE mailqueue.email_order (
    email_id         uuid        NOT NULL PRIMARY KEY,
    project_id       uuid        NOT NULL,
    order_key        uuid        NOT NULL,                   -- hash of what the mail has in common
    sequence_number  bigint      NOT NULL,
    run_at           timestamptz NOT NULL,                   -- when it is due once it has its turn
    is_released      boolean     NOT NULL DEFAULT false,
    open_writers     text[],                                 -- transactions that may still insert an earlier mail
    blocked_by       text,                                   -- outcome, where the mail is finished and blocks the others

    CONSTRAINT email_order_place_key UNIQUE (project_id, order_key, sequence_number),
    CONSTRAINT email_order_blocked_by_check CHECK (blocked_by IN ('failed', 'expired'))
) WITH (fillfactor = 80);
CREATE INDEX email_order_blocked_idx ON mailqueue.email_order (project_id) WHERE blocked_by IS NOT NULL;
COMMENT ON TABLE mailqueue.email_order IS
    'Mail that goes in the order of its key: its place, and whether it has its turn. Finished mail leaves, unless it '
    'blocks the others.';

CREATE TABLE mailqueue.order_signals (
    project_id  uuid        NOT NULL,
    order_key   uuid        NOT NULL,
    look_at     timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX order_signals_look_at_idx ON mailqueue.order_signals (look_at);
COMMENT ON TABLE mailqueue.order_signals IS
    'Keys whose next mail may have its turn: written in the transaction that inserts or finishes an ordered mail, '
    'consumed by gather_lanes().';
