-- 0015_providers.sql
-- Adds:    providers with an HTTP API, and what their sender accounts are set to
-- Running workers: go on; those of an older version give back mail of an account that has no server
-- Locks:   sender_accounts for a moment: no row is read or written again

ALTER TABLE mailqueue.sender_accounts
    ADD COLUMN api_url           text,                      -- where the API is; NULL: where the provider has it
    ADD COLUMN provider_settings jsonb,                     -- the provider's own, name to value; no secrets
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT sender_accounts_provider_check,
    ADD CONSTRAINT sender_accounts_provider_check CHECK (provider IN
        ('smtp', 'trap', 'ses', 'sendgrid', 'mailgun', 'postmark', 'resend', 'smtp2go', 'gmail')) NOT VALID,
    ADD CONSTRAINT sender_accounts_api_check CHECK (
        api_url ~ '^https?://[^\s@]+$' AND (provider NOT IN ('smtp', 'trap') OR api_url IS NULL)) NOT VALID,
    ADD CONSTRAINT sender_accounts_settings_check CHECK (jsonb_typeof(provider_settings) = 'object') NOT VALID;
COMMENT ON COLUMN mailqueue.sender_accounts.smtp_username IS
    'The name to log in with; for a provider with an HTTP API the id of the key, or the mailbox.';
COMMENT ON COLUMN mailqueue.sender_accounts.smtp_password IS
    'Sealed: the password; for a provider with an HTTP API the key, or a document with several secrets.';
COMMENT ON COLUMN mailqueue.sender_accounts.provider_settings IS
    'The provider''s own settings, name to value, as docs/providers.md lists them. Secrets do not belong here.';
