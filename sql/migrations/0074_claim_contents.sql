-- 0074_claim_contents.sql
-- Removes: the days of contents from claim_pick: a claim reads the contents of all its mails at once
-- Running workers: not affected
-- Locks:   none

-- squawk-ignore ban-drop-column
ALTER TYPE mailqueue.claim_pick DROP ATTRIBUTE content_from, DROP ATTRIBUTE content_to;
