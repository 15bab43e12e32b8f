-- 0810_whatsapp_channels.sql
-- Adds:    channel_consents; columns of notification_channels and notifications for channels of WhatsApp, by Twilio
-- Running workers: of the release before deliver nothing to these channels; their notifications wait for others
-- Locks:   notification_channels and notifications for a moment, nothing is rewritten

ALTER TABLE mailqueue.notification_channels
    ADD COLUMN twilio_sid text,
    ADD COLUMN sender_number text,
    ADD COLUMN template_sid text,
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT notification_channels_channel_type_check,
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT notification_channels_status_check,
    ADD CONSTRAINT notification_channels_channel_type_check CHECK (channel_type IN ('slack', 'whatsapp')) NOT VALID,
    ADD CONSTRAINT notification_channels_status_check
        CHECK (status IN ('active', 'error', 'opted_out', 'disconnected')) NOT VALID,
    ADD CONSTRAINT notification_channels_whatsapp_check CHECK (
        channel_type <> 'whatsapp'
        OR twilio_sid IS NOT NULL AND sender_number IS NOT NULL AND template_sid IS NOT NULL) NOT VALID;

ALTER TABLE mailqueue.notifications ADD COLUMN receipts jsonb;

CREATE TABLE mailqueue.channel_consents (
    channel_id      uuid        NOT NULL PRIMARY KEY REFERENCES mailqueue.notification_channels (id) ON DELETE CASCADE,
    project_id      uuid        NOT NULL REFERENCES mailqueue.projects (id),
    email           text        NOT NULL,
    phone_number    text        NOT NULL,
    given_at        timestamptz NOT NULL,
    source          text        NOT NULL,
    wording         text        NOT NULL,
    withdrawn_at    timestamptz,
    withdrawn_word  text,
    window_until    timestamptz,
    word_sids       text[]      NOT NULL DEFAULT '{}',
    created_at      timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT channel_consents_withdrawn_check CHECK ((withdrawn_at IS NULL) = (withdrawn_word IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX channel_consents_project_idx ON mailqueue.channel_consents (project_id, phone_number);
COMMENT ON TABLE mailqueue.channel_consents IS
    'Consent of persons to messages to their phone: without a row that is not withdrawn, nothing is sent to a channel.';

INSERT INTO mailqueue.channel_providers (name) VALUES ('whatsapp');
