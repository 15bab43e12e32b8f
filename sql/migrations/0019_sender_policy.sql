-- 0019_sender_policy.sql
-- Adds:    what a project says of senders: bounce address, allowed From addresses
-- Running workers: not affected
-- Locks:   projects for a moment

ALTER TABLE mailqueue.projects
    ADD COLUMN bounce_address text,                          -- envelope sender; NULL: the From address
    ADD COLUMN allowed_from text[],                          -- addresses, domains, *.domains a mail may name; NULL: any
    -- squawk-ignore constraint-missing-not-valid
    ADD CONSTRAINT projects_allowed_from_check CHECK (cardinality(allowed_from) > 0);
