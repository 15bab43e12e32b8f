-- 0030_inline_servers.sql
-- Adds:    inline_servers
-- Running workers: not affected; those of an older version leave this mail to others
-- Locks:   none on existing tables

CREATE TABLE mailqueue.inline_servers (
    id          uuid        NOT NULL PRIMARY KEY,            -- given before the row, so that what is sealed is bound to it
    project_id  uuid        NOT NULL REFERENCES mailqueue.projects (id),
    email_id    uuid        NOT NULL,
    sealed      bytea       NOT NULL,                        -- host, port, TLS, user name and password; see data_keys
    look_at     timestamptz NOT NULL,                        -- when its mail is due; run_at of the mail is out of reach for claims
    expires_at  timestamptz NOT NULL,                        -- gone afterwards, whatever became of the mail
    created_at  timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT inline_servers_email_id_key UNIQUE (email_id)
);
CREATE INDEX inline_servers_look_at_idx ON mailqueue.inline_servers (look_at);
CREATE INDEX inline_servers_project_idx ON mailqueue.inline_servers (project_id);
COMMENT ON TABLE mailqueue.inline_servers IS
    'Servers that callers named for one queued mail each. Deleted when the mail is finished or held, at the latest when it expires.';
