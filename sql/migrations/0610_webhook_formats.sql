-- 0610_webhook_formats.sql
-- Adds:    webhooks.format, webhooks.public_key
-- Running workers: of the release before send format mailqueue to every webhook; stop them before one with another is added
-- Locks:   webhooks for a moment, nothing is rewritten

ALTER TABLE mailqueue.webhooks
    ADD COLUMN format text NOT NULL DEFAULT 'mailqueue',
    ADD COLUMN public_key text,                              -- NULL: its requests are not signed by a key pair
    ADD CONSTRAINT webhooks_format_check
        CHECK (format IN ('mailqueue', 'resend', 'postmark', 'sendgrid', 'mailgun')) NOT VALID,
    ADD CONSTRAINT webhooks_public_key_check
        CHECK ((public_key IS NOT NULL) = (format = 'sendgrid') AND length(public_key) <= 500) NOT VALID;
