-- no-transaction
-- 0711_gmail_addresses.sql
-- Adds:    an index of inboxes at Gmail by address
-- Running workers: not affected
-- Locks:   none that anybody waits for
CREATE INDEX CONCURRENTLY IF NOT EXISTS mailboxes_address_idx
    ON mailqueue.mailboxes (email_address) WHERE provider = 'gmail';
