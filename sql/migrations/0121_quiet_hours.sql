-- 0121_quiet_hours.sql
-- Adds:    quiet hours and a frequency cap of projects, and what contacts were sent
-- Running workers: not affected; those of the release before hold nothing back
-- Locks:   projects for a moment: no row is read or written

ALTER TABLE mailqueue.projects
    ADD COLUMN quiet_hours text,                             -- such as 21:00-08:00; NULL: none
    ADD COLUMN frequency_cap text,                           -- such as 3/7d; NULL: none
    ADD CONSTRAINT projects_quiet_hours_check CHECK (
        quiet_hours ~ '^([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]$') NOT VALID,
    ADD CONSTRAINT projects_frequency_cap_check CHECK (
        frequency_cap ~ '^[1-9][0-9]{0,2}/[1-9][0-9]{0,2}d$') NOT VALID;
-- Few projects have either: whether any has is asked for each group of mails.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX projects_held_back_idx ON mailqueue.projects (id)
    WHERE quiet_hours IS NOT NULL OR frequency_cap IS NOT NULL;

CREATE TABLE mailqueue.marketing_counts (
    project_id       uuid          NOT NULL REFERENCES mailqueue.projects (id),
    address_hash     bytea         NOT NULL,
    email_ids        uuid[]        NOT NULL,                 -- mails that count, oldest first
    counted_at       timestamptz[] NOT NULL,                 -- of each of them
    last_counted_at  timestamptz   NOT NULL,

    PRIMARY KEY (project_id, address_hash),
    CONSTRAINT marketing_counts_check CHECK (cardinality(email_ids) = cardinality(counted_at))
) WITH (fillfactor = 70);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX marketing_counts_age_idx ON mailqueue.marketing_counts (last_counted_at);
COMMENT ON TABLE mailqueue.marketing_counts IS
    'Marketing mails that each recipient was sent within the days of the frequency cap of its project.';
