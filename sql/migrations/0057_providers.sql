-- 0057_providers.sql
-- Adds:    providers, a table of the words that sender accounts may name, in place of a list in a constraint
-- Running workers: not affected
-- Locks:   sender_accounts for a moment: no row is read or written again

-- Its rows come from the program at each change of the schema: see functions/upgrade/providers.sql.
CREATE TABLE mailqueue.providers (
    name         text    PRIMARY KEY,
    label        text    NOT NULL,                           -- as people write it
    has_api      boolean NOT NULL,                           -- reached by HTTP
    sends_events boolean NOT NULL,                           -- tells what became of mail
    CONSTRAINT providers_name_check CHECK (name ~ '^[a-z][a-z0-9]{1,30}$')
);
COMMENT ON TABLE mailqueue.providers IS
    'What a sender account''s provider may be. Kept by mailqueue migrate: changes made by hand are undone.';

INSERT INTO mailqueue.providers (name, label, has_api, sends_events) VALUES
    ('ses', 'Amazon SES', true, true), ('sendgrid', 'SendGrid', true, true), ('mailgun', 'Mailgun', true, true),
    ('postmark', 'Postmark', true, true), ('resend', 'Resend', true, true), ('smtp2go', 'SMTP2GO', true, true),
    ('smtp', 'SMTP', false, true), ('gmail', 'Gmail', true, false), ('trap', 'Mail trap', false, false);

ALTER TABLE mailqueue.sender_accounts
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT sender_accounts_provider_check,
    ADD CONSTRAINT sender_accounts_provider_fkey FOREIGN KEY (provider) REFERENCES mailqueue.providers (name) NOT VALID;
