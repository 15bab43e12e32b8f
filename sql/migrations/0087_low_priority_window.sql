-- 0087_low_priority_window.sql
-- Adds:    the time of day at which a project sends mail of low priority
-- Running workers: not affected
-- Locks:   projects, limits and lanes for a moment: no row is read or written

ALTER TABLE mailqueue.projects
    ADD COLUMN low_priority_window text,                     -- such as 22:00-06:00 Europe/Berlin; NULL: any time
    ADD CONSTRAINT projects_low_priority_window_check CHECK (
        low_priority_window
        ~ '^([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]( [A-Z][A-Za-z0-9_+/-]{1,99})?$') NOT VALID;

ALTER TABLE mailqueue.limits
    ADD COLUMN low_from  time,                               -- NULL: mail of low priority is sent at any time
    ADD COLUMN low_until time,                               -- before low_from: of the next day
    ADD COLUMN low_zone  text,
    ADD CONSTRAINT limits_low_check CHECK (num_nonnulls(low_from, low_until, low_zone) IN (0, 3)) NOT VALID;

ALTER TABLE mailqueue.lanes
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT lanes_reason_check,
    ADD CONSTRAINT lanes_reason_check CHECK (blocked_reason IN ('empty', 'not_due', 'recheck', 'daily_limit',
        'hourly_limit', 'minute_limit', 'rate', 'domain_rate', 'paused', 'suspended', 'unreachable', 'circuit',
        'limited', 'half_open', 'no_sender', 'set_aside', 'locked', 'outside_window')) NOT VALID;

ALTER TYPE mailqueue.claim_limit ADD ATTRIBUTE low_opens_at timestamptz;  -- NULL: mail of low priority may be sent
