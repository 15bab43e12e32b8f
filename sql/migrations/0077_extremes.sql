-- 0077_extremes.sql
-- Adds:    constraints on values with which no claim of any project could be computed
-- Running workers: not affected
-- Locks:   email_queue, lanes, limits, limit_counters, projects and sender_accounts for a moment, nothing is rewritten

ALTER TABLE mailqueue.email_queue
    ADD CONSTRAINT email_queue_recipients_check CHECK (recipients >= 0) NOT VALID;
ALTER TABLE mailqueue.lanes
    ADD CONSTRAINT lanes_vtime_check CHECK (vtime < 4000000000000000000) NOT VALID,
    ADD CONSTRAINT lanes_account_limits_check CHECK (array_position(account_limits, NULL) IS NULL) NOT VALID;
ALTER TABLE mailqueue.limits
    ADD CONSTRAINT limits_rate_range_check
        CHECK (rate_per_second BETWEEN 0.000000001 AND 1000000000) NOT VALID,
    ADD CONSTRAINT limits_time_zone_check
        CHECK (timezone(time_zone, timestamptz '2000-01-01 00:00:00+00') IS NOT NULL) NOT VALID;
-- timezone() raises an error where there is no such time zone.
ALTER TABLE mailqueue.projects
    ADD CONSTRAINT projects_rate_range_check
        CHECK (rate_per_second BETWEEN 0.000000001 AND 1000000000) NOT VALID,
    ADD CONSTRAINT projects_time_zone_check
        CHECK (timezone(time_zone, timestamptz '2000-01-01 00:00:00+00') IS NOT NULL) NOT VALID;
ALTER TABLE mailqueue.sender_accounts
    ADD CONSTRAINT sender_accounts_rate_range_check
        CHECK (rate_per_second BETWEEN 0.000000001 AND 1000000000) NOT VALID,
    ADD CONSTRAINT sender_accounts_time_zone_check
        CHECK (timezone(time_zone, timestamptz '2000-01-01 00:00:00+00') IS NOT NULL) NOT VALID;
ALTER TABLE mailqueue.limit_counters
    ADD CONSTRAINT limit_counters_rev_check CHECK (rev < 4000000000000000000) NOT VALID;
