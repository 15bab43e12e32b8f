-- 0020_routing.sql
-- Adds:    circuits of sender accounts, sender_failures
-- Running workers: go on; they report failures once they are of this version
-- Locks:   limits and lanes for a moment: no row is read or written again

ALTER TABLE mailqueue.limits
    ADD COLUMN circuit_opened_at  timestamptz,              -- NULL: closed; half open once blocked_until is over
    ADD COLUMN circuit_held_until timestamptz,              -- a probe has just ended: no other before its news is in
    ADD COLUMN circuit_closed_at  timestamptz,              -- failures of before count no more
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT limits_blocked_check,
    ADD CONSTRAINT limits_blocked_check CHECK (
        blocked_reason IN ('paused', 'suspended', 'unreachable', 'circuit')
        AND (blocked_reason IS NOT NULL OR blocked_until IS NULL)) NOT VALID;
COMMENT ON COLUMN mailqueue.limits.failures IS
    'Times in a row that the circuit of a sender account opened, or stayed open after a probe.';

ALTER TABLE mailqueue.lanes
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT lanes_reason_check,
    ADD CONSTRAINT lanes_reason_check CHECK (blocked_reason IN ('empty', 'not_due', 'recheck', 'daily_limit', 'rate',
        'domain_rate', 'paused', 'suspended', 'unreachable', 'circuit', 'half_open', 'no_sender', 'set_aside', 'locked')) NOT VALID;

CREATE TABLE mailqueue.sender_failures (
    id                 bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sender_account_id  integer     NOT NULL,
    failed_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind               text        NOT NULL,
    domain             text,                                -- of the recipient; NULL: no mail was tried
    detail             text        NOT NULL,
    sent_before        integer     NOT NULL,                -- recipients the account had sent to on that day

    CONSTRAINT sender_failures_kind_check CHECK (kind IN ('unreachable', 'transient', 'rate_limited', 'ambiguous', 'account', 'infrastructure'))
);
CREATE INDEX sender_failures_account_idx ON mailqueue.sender_failures (sender_account_id, failed_at);
CREATE INDEX sender_failures_failed_at_idx ON mailqueue.sender_failures (failed_at);
COMMENT ON TABLE mailqueue.sender_failures IS
    'Failures of the last day that are about a sender account or its server, not about a recipient: what opens its circuit. At most 1,000 an account.';
