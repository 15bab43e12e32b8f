-- 0135_refused_rows.sql
-- Adds:    rows whose change the server refuses, which claims leave out for a growing time
-- Running workers: those of earlier releases do not note such rows; they leave out those that others have noted
-- Locks:   none that anybody waits for

CREATE TABLE mailqueue.refused_rows (
    table_name  text        NOT NULL,
    row_id      uuid        NOT NULL,
    refusals    smallint    NOT NULL DEFAULT 1,
    refused_at  timestamptz NOT NULL DEFAULT clock_timestamp(),  -- the last time
    retry_at    timestamptz NOT NULL,                            -- claims leave it out until then
    reason      text        NOT NULL,                            -- SQLSTATE and what raised it; not its message

    CONSTRAINT refused_rows_pkey PRIMARY KEY (table_name, row_id),
    CONSTRAINT refused_rows_refusals_check CHECK (refusals > 0),
    CONSTRAINT refused_rows_reason_check CHECK (length(reason) <= 400)
);
CREATE INDEX refused_rows_retry_idx ON mailqueue.refused_rows (table_name, retry_at);
COMMENT ON TABLE mailqueue.refused_rows IS
    'Rows of queues that cannot be claimed because a trigger or a constraint of this database refuses the change.';
