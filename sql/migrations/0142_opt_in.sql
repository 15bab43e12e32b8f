-- 0142_opt_in.sql
-- Adds:    contact_lists.confirm_template, what contacts confirmed and when, list_confirmations: mails that ask for it
-- Running workers: not affected; workers of this release put the link into mails that ask
-- Locks:   contact_lists and contact_list_members for a moment

ALTER TABLE mailqueue.contact_lists ADD COLUMN confirm_template text;   -- NULL: the built-in text
ALTER TABLE mailqueue.contact_list_members
    ADD COLUMN pending_until    timestamptz,                 -- NULL: not pending
    ADD COLUMN confirm_wording  text,
    ADD COLUMN confirm_agent    text,
    ADD COLUMN confirm_network  inet;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX contact_list_members_pending_idx ON mailqueue.contact_list_members (pending_until) WHERE is_pending;

CREATE TABLE mailqueue.list_confirmations (
    email_id    uuid        NOT NULL PRIMARY KEY,
    list_id     uuid        NOT NULL,
    contact_id  uuid        NOT NULL,
    project_id  uuid        NOT NULL REFERENCES mailqueue.projects (id),
    created_at  timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT list_confirmations_member_fkey FOREIGN KEY (list_id, contact_id)
        REFERENCES mailqueue.contact_list_members (list_id, contact_id) ON DELETE CASCADE
);
CREATE INDEX list_confirmations_member_idx ON mailqueue.list_confirmations (list_id, contact_id, created_at);
COMMENT ON TABLE mailqueue.list_confirmations IS
    'Mails that asked contacts to confirm that they want mail to a list.';
