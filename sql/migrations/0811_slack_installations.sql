-- 0811_slack_installations.sql
-- Adds:    slack_installations: installations of the Slack app that have begun
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.slack_installations (
    state_hash  bytea       NOT NULL PRIMARY KEY,
    project_id  uuid        NOT NULL REFERENCES mailqueue.projects (id),
    user_id     uuid        NOT NULL REFERENCES mailqueue.inbox_users (id) ON DELETE CASCADE,
    begun_by    text        NOT NULL,
    expires_at  timestamptz NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX slack_installations_user_idx ON mailqueue.slack_installations (user_id);
CREATE INDEX slack_installations_project_idx ON mailqueue.slack_installations (project_id);
CREATE INDEX slack_installations_created_at_idx ON mailqueue.slack_installations (created_at);
COMMENT ON TABLE mailqueue.slack_installations IS
    'Installations of the Slack app that have begun: each state is used once, within minutes.';
