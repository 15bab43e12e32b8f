-- 0970_phone_registrations.sql
-- Adds:    phone_registrations: codes that persons send by WhatsApp to connect their phone; an index of consents by number
-- Running workers: not affected
-- Locks:   channel_consents: writes wait while the index is built; it has a row for each phone

CREATE TABLE mailqueue.phone_registrations (
    code_hash   bytea       NOT NULL PRIMARY KEY,
    project_id  uuid        NOT NULL REFERENCES mailqueue.projects (id),
    user_id     uuid        NOT NULL REFERENCES mailqueue.inbox_users (id) ON DELETE CASCADE,
    source      text        NOT NULL,
    wording     text        NOT NULL,
    begun_by    text        NOT NULL,
    expires_at  timestamptz NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX phone_registrations_user_idx ON mailqueue.phone_registrations (user_id);
CREATE INDEX phone_registrations_project_idx ON mailqueue.phone_registrations (project_id);
CREATE INDEX phone_registrations_created_at_idx ON mailqueue.phone_registrations (created_at);
COMMENT ON TABLE mailqueue.phone_registrations IS
    'Phones that persons connect: each code is sent once from the phone, within minutes.';

-- squawk-ignore require-concurrent-index-creation
CREATE INDEX channel_consents_phone_idx ON mailqueue.channel_consents (phone_number);
