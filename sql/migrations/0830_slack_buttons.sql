-- 0830_slack_buttons.sql
-- Adds:    muted_senders; columns of inbox_users, notification_channels and notifications for buttons in Slack
-- Running workers: of the release before notify of muted senders and during a pause of an hour, and post no buttons
-- Locks:   inbox_users, notification_channels and notifications for a moment, nothing is rewritten

CREATE TABLE mailqueue.muted_senders (
    id              uuid        NOT NULL DEFAULT mailqueue.uuidv7() PRIMARY KEY,
    project_id      uuid        NOT NULL REFERENCES mailqueue.projects (id),
    user_id         uuid        NOT NULL REFERENCES mailqueue.inbox_users (id) ON DELETE CASCADE,
    sender_address  text        NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT muted_senders_user_id_sender_address_key UNIQUE (user_id, sender_address)
);
CREATE INDEX muted_senders_project_idx ON mailqueue.muted_senders (project_id, id);
COMMENT ON TABLE mailqueue.muted_senders IS
    'Senders whose mail a person is not notified of, whatever the filter rules are.';

ALTER TABLE mailqueue.inbox_users ADD COLUMN paused_until timestamptz;

ALTER TABLE mailqueue.notification_channels
    ADD COLUMN is_of_app boolean NOT NULL DEFAULT false,
    ADD COLUMN sealed_signing_secret bytea;

ALTER TABLE mailqueue.notifications ADD COLUMN presses jsonb;
