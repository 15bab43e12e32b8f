-- 0011_limits.sql
-- Adds:    warm-up of sender accounts, weight of projects, shares of priority classes, a rate of the whole installation,
--          domain_rates, retry_ladders
-- Running workers: go on; they know of these once the functions are re-applied
-- Locks:   projects, sender_accounts, limits, lanes and lane_classes for a moment: no row is read or written again

ALTER TABLE mailqueue.projects
    ADD COLUMN weight integer NOT NULL DEFAULT 100,          -- turns beside other projects: 300 gets three times those of 100
    ADD CONSTRAINT projects_weight_check CHECK (weight BETWEEN 1 AND 10000) NOT VALID;

ALTER TABLE mailqueue.sender_accounts
    ADD COLUMN warm_up integer[],                           -- limit of the first day with mail, of the second, …; NULL: none
    ADD CONSTRAINT sender_accounts_warm_up_check
        CHECK (cardinality(warm_up) BETWEEN 1 AND 100 AND array_position(warm_up, NULL) IS NULL AND 0 < ALL (warm_up)) NOT VALID;

-- Limits of three more kinds of owner: a recipient domain, and, as number 0, the whole installation.
ALTER TABLE mailqueue.limits
    -- squawk-ignore ban-drop-not-null
    ALTER COLUMN project_id DROP NOT NULL,
    ADD COLUMN domain       text,
    ADD COLUMN warm_up      integer[],
    ADD COLUMN warm_up_from date,                           -- days with mail since then are counted
    ADD CONSTRAINT limits_owner_check CHECK (
        CASE WHEN id = 0 THEN num_nonnulls(project_id, sender_account_id, domain) = 0
             ELSE num_nonnulls(project_id, domain) = 1 AND num_nonnulls(sender_account_id, domain) < 2 END) NOT VALID;
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX limits_domain_key ON mailqueue.limits (domain) WHERE domain IS NOT NULL;
COMMENT ON TABLE mailqueue.limits IS
    'Limits of projects, sender accounts, recipient domains and (number 0) of the whole installation side by side, as claims read and lock them. Change their owners, not this.';

-- A lane of mail to a domain that has a rate. It keeps home_route, as lanes of paused mail do.
ALTER TABLE mailqueue.lanes
    ADD COLUMN domain_limit integer,                        -- NULL: no domain's rate holds for the whole lane
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT lanes_reason_check,
    ADD CONSTRAINT lanes_reason_check CHECK (blocked_reason IN ('empty', 'not_due', 'recheck', 'daily_limit', 'rate',
        'domain_rate', 'paused', 'suspended', 'unreachable', 'no_sender', 'set_aside')) NOT VALID;
COMMENT ON COLUMN mailqueue.lanes.home_route IS
    'Set where the lane keeps mail of a paused campaign or domain, or to a domain that has a rate: the route that mail came from.';

ALTER TABLE mailqueue.lane_classes
    ADD COLUMN project_share numeric,                       -- of a batch, for one project while others wait; NULL: all of it
    ADD CONSTRAINT lane_classes_share_check CHECK (project_share > 0 AND project_share <= 1) NOT VALID;
UPDATE mailqueue.lane_classes SET project_share = 0.25 WHERE priority = 0;

CREATE TABLE mailqueue.domain_rates (
    domain           text        NOT NULL PRIMARY KEY,
    rate_per_second  numeric     NOT NULL,                  -- recipients a second
    burst            integer,                               -- how far the rate may be ahead of itself; NULL: a second's worth
    note             text,                                  -- why, for people
    changed_at       timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT domain_rates_domain_check CHECK (domain = lower(domain) AND domain ~ '^[^@\s|]{1,253}$'),
    CONSTRAINT domain_rates_rate_check CHECK (rate_per_second > 0 AND burst > 0)
);
COMMENT ON TABLE mailqueue.domain_rates IS
    'Recipient domains written to no faster than this, by all projects and workers together. Subdomains have rates of their own.';

CREATE TABLE mailqueue.retry_ladders (
    project_id    uuid       NOT NULL REFERENCES mailqueue.projects (id),
    category      text       NOT NULL DEFAULT '',           -- '': every category that has no ladder of its own
    steps         interval[] NOT NULL,                      -- waits after the first, second, … attempt; the last one repeats
    max_attempts  smallint,                                 -- NULL: until the mail expires
    soft_wait     interval,                                 -- after a soft bounce; NULL: as after any other failure
    soft_retries  smallint   NOT NULL DEFAULT 3,            -- so many soft bounces are tried again

    CONSTRAINT retry_ladders_pkey PRIMARY KEY (project_id, category),
    CONSTRAINT retry_ladders_steps_check CHECK (
        cardinality(steps) BETWEEN 1 AND 50 AND array_position(steps, NULL) IS NULL
        AND interval '0' < ALL (steps) AND interval '30 d' >= ALL (steps)),
    CONSTRAINT retry_ladders_attempts_check CHECK (max_attempts BETWEEN 1 AND 1000),
    CONSTRAINT retry_ladders_soft_check CHECK (
        soft_wait > interval '0' AND soft_wait <= interval '30 d' AND soft_retries BETWEEN 0 AND 100)
);
COMMENT ON TABLE mailqueue.retry_ladders IS
    'When a project''s mail is tried again. Without a row: 1, 5, 15, 60 minutes, then hourly; soft bounces after a day, three times.';
