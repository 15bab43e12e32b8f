-- 0073_sender_public_id.sql
-- Adds:    sender_accounts.public_id
-- Running workers: not affected
-- Locks:   sender_accounts while it is rewritten, a row for each account

ALTER TABLE mailqueue.sender_accounts
    -- squawk-ignore adding-field-with-default
    ADD COLUMN public_id uuid NOT NULL DEFAULT gen_random_uuid(),
    -- squawk-ignore disallowed-unique-constraint, constraint-missing-not-valid
    ADD CONSTRAINT sender_accounts_public_id_key UNIQUE (public_id);
COMMENT ON COLUMN mailqueue.sender_accounts.public_id IS
    'Id of the account in the HTTP API; unlike the number in id, it is not one of a sequence that projects share.';
