-- 0075_paced_limits.sql
-- Adds:    hourly and minute limits of sender accounts; the default burst of one second; what claims need for pacing
-- Running workers: go on; they send what they claim at once until they are restarted
-- Locks:   projects, sender_accounts, limits and lanes for a moment: no row but those of rates is written again

ALTER TABLE mailqueue.sender_accounts
    ADD COLUMN hourly_limit integer,                         -- recipients in any hour; NULL: none
    ADD COLUMN minute_limit integer,                         -- recipients in any minute; NULL: none
    -- squawk-ignore ban-drop-not-null
    ALTER COLUMN burst DROP NOT NULL,                        -- NULL: what the rate gives in one second
    -- squawk-ignore ban-drop-default
    ALTER COLUMN burst DROP DEFAULT,
    ADD CONSTRAINT sender_accounts_windows_check CHECK (hourly_limit > 0 AND minute_limit > 0) NOT VALID;
ALTER TABLE mailqueue.projects
    -- squawk-ignore ban-drop-not-null
    ALTER COLUMN burst DROP NOT NULL,
    -- squawk-ignore ban-drop-default
    ALTER COLUMN burst DROP DEFAULT;
COMMENT ON COLUMN mailqueue.sender_accounts.burst IS
    'Recipients that may be sent to in one second beyond the rate; NULL: what the rate gives in one second.';
COMMENT ON COLUMN mailqueue.projects.burst IS
    'Recipients that may be sent to in one second beyond the rate; NULL: what the rate gives in one second.';
COMMENT ON COLUMN mailqueue.sender_accounts.hourly_limit IS 'Recipients in any 60 minutes; NULL: no limit.';
COMMENT ON COLUMN mailqueue.sender_accounts.minute_limit IS 'Recipients in any 60 seconds; NULL: no limit.';

-- 200 was the default; where no rate holds it has no meaning yet. The triggers would make lanes and limits
-- again, which do not change.
ALTER TABLE mailqueue.sender_accounts DISABLE TRIGGER USER;
UPDATE mailqueue.sender_accounts SET burst = NULL WHERE burst = 200 AND rate_per_second IS NULL;
ALTER TABLE mailqueue.sender_accounts ENABLE TRIGGER USER;
ALTER TABLE mailqueue.projects DISABLE TRIGGER USER;
UPDATE mailqueue.projects SET burst = NULL WHERE burst = 200 AND rate_per_second IS NULL;
ALTER TABLE mailqueue.projects ENABLE TRIGGER USER;

ALTER TABLE mailqueue.limits
    ADD COLUMN hourly_limit integer,
    ADD COLUMN minute_limit integer,
    ADD COLUMN capacity     numeric;
COMMENT ON COLUMN mailqueue.limits.rate_per_second IS 'Recipients a second that claims keep to; see pace_of_rate().';
COMMENT ON COLUMN mailqueue.limits.capacity IS
    'Capacity of the bucket from which claims keep the rate, see pace_of_rate(); NULL: the burst.';
UPDATE mailqueue.limits
   SET capacity = greatest(burst, 1 + rate_per_second / 4),
       rate_per_second = rate_per_second - greatest(0, rate_per_second / 10 - burst) / 2
 WHERE rate_per_second IS NOT NULL AND id <> 0;

ALTER TABLE mailqueue.lanes
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT lanes_reason_check,
    ADD CONSTRAINT lanes_reason_check CHECK (blocked_reason IN ('empty', 'not_due', 'recheck', 'daily_limit',
        'hourly_limit', 'minute_limit', 'rate', 'domain_rate', 'paused', 'suspended', 'unreachable', 'circuit',
        'limited', 'half_open', 'no_sender', 'set_aside', 'locked')) NOT VALID;

-- A slot is a sixtieth of its window.
CREATE TABLE mailqueue.limit_windows (
    limit_id   integer  NOT NULL,
    seconds    smallint NOT NULL,                            -- length of the window: 60 or 3600
    slot       bigint   NOT NULL,                            -- seconds since 1970, divided by the length of a slot
    taken      integer  NOT NULL,                            -- recipients reserved in the slot and not given back

    CONSTRAINT limit_windows_pkey PRIMARY KEY (limit_id, seconds, slot),
    CONSTRAINT limit_windows_check CHECK (seconds IN (60, 3600) AND taken >= 0)
);
COMMENT ON TABLE mailqueue.limit_windows IS
    'Recipients reserved in the last minute and the last hour, for sender accounts that have a limit of such a window.';

ALTER TYPE mailqueue.claim_limit ADD ATTRIBUTE rate numeric; -- recipients a second; NULL: none
ALTER TYPE mailqueue.claim_limit ADD ATTRIBUTE tokens numeric;  -- of the rate's bucket, before this claim
ALTER TYPE mailqueue.claim_limit ADD ATTRIBUTE has_windows boolean;
ALTER TYPE mailqueue.claim_pick ADD ATTRIBUTE due_now float8;  -- mails that the rate has given so far; see pace_of_pick()
ALTER TYPE mailqueue.claim_pick ADD ATTRIBUTE is_first_due boolean;  -- the first one is sent at once in any case
ALTER TYPE mailqueue.claim_pick ADD ATTRIBUTE rate float8;   -- mails a second; NULL: all are sent at once
