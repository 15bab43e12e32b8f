-- 0832_inbox_listeners.sql
-- Adds:    inbox_listeners: which process listens to which inbox by IMAP IDLE
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.inbox_listeners (
    mailbox_id   uuid        NOT NULL PRIMARY KEY REFERENCES mailqueue.mailboxes (id) ON DELETE CASCADE,
    project_id   uuid        NOT NULL REFERENCES mailqueue.projects (id),
    server       text        NOT NULL,
    listener     uuid        NOT NULL,
    state        text        NOT NULL DEFAULT 'connecting',
    lease_until  timestamptz NOT NULL,
    known_at     timestamptz NOT NULL,
    next_at      timestamptz NOT NULL DEFAULT now(),
    failures     integer     NOT NULL DEFAULT 0,
    last_error   text,
    updated_at   timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT inbox_listeners_state_check CHECK (state IN ('connecting', 'listening', 'waiting', 'unsupported'))
) WITH (fillfactor = 50);
CREATE INDEX inbox_listeners_project_idx ON mailqueue.inbox_listeners (project_id);
CREATE INDEX inbox_listeners_lease_idx ON mailqueue.inbox_listeners (lease_until);
COMMENT ON TABLE mailqueue.inbox_listeners IS
    'Connections that wait for new mail of inboxes by IMAP IDLE: one for each inbox, held by a process with a lease.';

INSERT INTO mailqueue.lock_rows (name) VALUES ('inbox_listeners');
