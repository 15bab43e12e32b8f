-- 0009_trap.sql
-- Adds:    trap_messages
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.trap_messages (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    received_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    mail_from    text        NOT NULL,
    rcpt_to      text[]      NOT NULL,
    subject      text        NOT NULL,                      -- decoded, for the list and the search
    from_header  text        NOT NULL,
    to_header    text        NOT NULL,
    preview      text        NOT NULL,                      -- first words of the text
    size_bytes   integer     NOT NULL,
    raw          bytea       NOT NULL
);
ALTER TABLE mailqueue.trap_messages ALTER COLUMN raw SET STORAGE EXTERNAL;
COMMENT ON TABLE mailqueue.trap_messages IS 'Mail caught by the built-in trap, as it came.';
