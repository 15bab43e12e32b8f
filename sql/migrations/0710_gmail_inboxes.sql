-- 0710_gmail_inboxes.sql
-- Adds:    inboxes of provider gmail; inbox_consents
-- Running workers: of the release before scan an inbox of Gmail as one of IMAP, which fails; stop them before one is connected
-- Locks:   mailboxes for a moment, nothing is rewritten

ALTER TABLE mailqueue.mailboxes
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT mailboxes_provider_check,
    ADD CONSTRAINT mailboxes_provider_check CHECK (provider IN ('imap', 'gmail')) NOT VALID;

CREATE TABLE mailqueue.inbox_consents (
    id             uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id     uuid        NOT NULL REFERENCES mailqueue.projects (id),
    user_id        uuid        NOT NULL REFERENCES mailqueue.inbox_users (id) ON DELETE CASCADE,
    state_hash     bytea       NOT NULL,
    email_address  text        NOT NULL,
    folders        text[]      NOT NULL,
    webmail_url    text,
    scan_seconds   integer     NOT NULL,
    expires_at     timestamptz NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT inbox_consents_state_hash_key UNIQUE (state_hash),
    CONSTRAINT inbox_consents_state_hash_check CHECK (octet_length(state_hash) = 32)
);
CREATE INDEX inbox_consents_project_idx ON mailqueue.inbox_consents (project_id);
CREATE INDEX inbox_consents_user_idx ON mailqueue.inbox_consents (user_id);
CREATE INDEX inbox_consents_created_at_idx ON mailqueue.inbox_consents (created_at);
COMMENT ON TABLE mailqueue.inbox_consents IS
    'Persons who were asked at Google to let their inbox be watched, and have not answered yet: 10 minutes each.';
