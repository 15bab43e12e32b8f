-- 0036_rates.sql
-- Adds:    thresholds of bounces and complaints for sender accounts, rate_signals
-- Running workers: go on; they look at rates once they are of this version
-- Locks:   sender_accounts for a moment: no row is read or written again

ALTER TABLE mailqueue.sender_accounts
    ADD COLUMN bounce_warn       numeric NOT NULL DEFAULT 2,     -- percent of what it sent; 0: never
    ADD COLUMN bounce_pause      numeric NOT NULL DEFAULT 5,
    ADD COLUMN complaint_warn    numeric NOT NULL DEFAULT 0.1,
    ADD COLUMN complaint_pause   numeric NOT NULL DEFAULT 0.3,
    ADD COLUMN rates_from        timestamptz,                    -- what was before counts no more; NULL: all of the window does
    ADD COLUMN rates_sent_before integer NOT NULL DEFAULT 0,     -- sent on the day of rates_from, before it
    ADD CONSTRAINT sender_accounts_thresholds_check CHECK (
        bounce_warn BETWEEN 0 AND 100 AND bounce_pause BETWEEN 0 AND 100
        AND complaint_warn BETWEEN 0 AND 100 AND complaint_pause BETWEEN 0 AND 100) NOT VALID;
COMMENT ON COLUMN mailqueue.sender_accounts.rates_from IS
    'Set when an account is resumed that was paused for its rates: somebody has seen to it, and the count begins anew.';

CREATE TABLE mailqueue.rate_signals (
    sender_account_id  integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
COMMENT ON TABLE mailqueue.rate_signals IS
    'Sender accounts that had bounces or complaints since somebody looked at their rates; consumed by watch_rates().';
