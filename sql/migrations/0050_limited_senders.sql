-- 0050_limited_senders.sql
-- Adds:    the word limited for accounts and lanes; which mail and which refusal a failure is of
-- Running workers: go on; they report unrecognized refusals once they are of this version
-- Locks:   limits, lanes and sender_failures for a moment: no row is read or written again

ALTER TABLE mailqueue.limits
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT limits_blocked_check,
    ADD CONSTRAINT limits_blocked_check CHECK (
        blocked_reason IN ('paused', 'suspended', 'unreachable', 'circuit', 'limited')
        AND (blocked_reason IS NOT NULL OR blocked_until IS NULL)) NOT VALID;

ALTER TABLE mailqueue.lanes
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT lanes_reason_check,
    ADD CONSTRAINT lanes_reason_check CHECK (blocked_reason IN ('empty', 'not_due', 'recheck', 'daily_limit', 'rate',
        'domain_rate', 'paused', 'suspended', 'unreachable', 'circuit', 'limited', 'half_open', 'no_sender', 'set_aside', 'locked')) NOT VALID;

ALTER TABLE mailqueue.sender_failures
    ADD COLUMN email_id uuid,                                -- the mail that failed; NULL: none was tried
    ADD COLUMN refusal  text,                                -- of an unrecognized refusal, without what varies
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT sender_failures_kind_check,
    ADD CONSTRAINT sender_failures_kind_check CHECK (kind IN ('unreachable', 'transient', 'rate_limited', 'ambiguous', 'account',
        'infrastructure', 'unrecognized')) NOT VALID;
COMMENT ON COLUMN mailqueue.sender_failures.domain IS
    'Of the recipient. NULL: no mail was tried, or nobody knows whether the refusal is about the account.';
