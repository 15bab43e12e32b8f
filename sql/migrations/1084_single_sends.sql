-- 1084_single_sends.sql
-- Adds:    broadcasts.summary: what lists of SendGrid's single sends show of one, without its texts
-- Running workers: not affected
-- Locks:   broadcasts for a moment, nothing is rewritten

ALTER TABLE mailqueue.broadcasts ADD COLUMN summary jsonb;
