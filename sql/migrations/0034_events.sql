-- 0034_events.sql
-- Adds:    what events from outside bring along, event_keys, notices, soft-bounce thresholds of projects; indexes that find mail by what others call it
-- Running workers: go on
-- Locks:   projects and bounce_list for a moment; email_events and email_history while four indexes of few rows are built: a second for some million rows

ALTER TABLE mailqueue.email_events
    ADD COLUMN source     text,                              -- who says so: ses, sendgrid, dsn, tracking, …; NULL: mailqueue itself
    ADD COLUMN code       text,                              -- enhanced status code, or the provider's own
    ADD COLUMN suppresses text,                              -- reason for which it keeps mail from the recipient; NULL: it does not
    ADD COLUMN data       jsonb,                             -- what else is known: url, user_agent, ip, is_machine, …
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT email_events_type_check,
    ADD CONSTRAINT email_events_type_check CHECK (type IN ('queued', 'sent', 'delivered', 'hard_bounce',
        'soft_bounce', 'complaint', 'opened', 'clicked', 'unsubscribed', 'resubscribed', 'failed', 'deferred', 'suppressed',
        'expired', 'cancelled', 'held', 'resolved')) NOT VALID;
COMMENT ON TABLE mailqueue.email_events IS
    'What happened to mails: what became of them, and what came back (delivered, bounced, opened, …). Each attempt is in send_logs. Partitioned by month.';

-- Months that are on their way out can be attached again only while they are like the others.
DO $$
DECLARE
    v_table regclass;
BEGIN
    FOR v_table IN
        SELECT c.oid FROM pg_catalog.pg_class AS c
         WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relname ~ '^email_events_[0-9]{4}_[0-9]{2}$' AND NOT c.relispartition
    LOOP
        EXECUTE format('ALTER TABLE %s ADD COLUMN source text, ADD COLUMN code text, ADD COLUMN suppresses text, ADD COLUMN data jsonb,
            DROP CONSTRAINT email_events_type_check, ADD CONSTRAINT email_events_type_check CHECK (type IN (''queued'', ''sent'', ''delivered'', ''hard_bounce'',
                ''soft_bounce'', ''complaint'', ''opened'', ''clicked'', ''unsubscribed'', ''resubscribed'', ''failed'', ''deferred'', ''suppressed'',
                ''expired'', ''cancelled'', ''held'', ''resolved'')) NOT VALID', v_table);
    END LOOP;
END $$;

-- Few events are of these kinds, and only they pay for it.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX email_events_address_idx ON mailqueue.email_events (project_id, lower(recipient_email), occurred_at)
    WHERE suppresses IS NOT NULL OR type = 'soft_bounce';
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX email_events_account_idx ON mailqueue.email_events (sender_account_id, occurred_at)
    WHERE type IN ('hard_bounce', 'soft_bounce', 'complaint');

-- Mail handed to a service by HTTP has a name there. A server that was spoken to by SMTP gives none.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX email_history_provider_idx ON mailqueue.email_history (provider_message_id) WHERE provider_message_id IS NOT NULL;
-- Ours begin with the id of the mail; those of finished messages that were handed in are their own.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX email_history_message_idx ON mailqueue.email_history (message_id) WHERE strpos(message_id, replace(id::text, '-', '')) <> 2;

ALTER TABLE mailqueue.projects
    ADD COLUMN soft_bounce_limit integer NOT NULL DEFAULT 5,  -- so many soft bounces of an address suppress it; 0: never
    ADD COLUMN soft_bounce_days  integer NOT NULL DEFAULT 30, -- within so many days
    ADD CONSTRAINT projects_soft_bounces_check CHECK (soft_bounce_limit BETWEEN 0 AND 1000 AND soft_bounce_days BETWEEN 1 AND 365) NOT VALID;
ALTER TABLE mailqueue.bounce_list
    ADD COLUMN soft_from timestamptz;                        -- soft bounces before count no more: somebody had mail go to it again
COMMENT ON COLUMN mailqueue.bounce_list.bounce_reason IS 'What the worst bounce said, the latest of those.';

CREATE TABLE mailqueue.event_keys (
    key          uuid NOT NULL PRIMARY KEY,                  -- 128 bits of SHA-256 of account, source and event id
    recorded_on  date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE INDEX event_keys_recorded_on_idx ON mailqueue.event_keys USING brin (recorded_on) WITH (pages_per_range = 32);
COMMENT ON TABLE mailqueue.event_keys IS
    'Events that were recorded, by what their source calls them: none is recorded twice. Some 90 bytes each, kept longer than the mail they speak of.';

CREATE TABLE mailqueue.notices (
    id                 bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id         uuid        NOT NULL REFERENCES mailqueue.projects (id),
    kind               text        NOT NULL,
    sender_account_id  integer,
    email_id           uuid,                                 -- of a complaint; the address stands in the event only
    told               text        NOT NULL,
    noticed_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at            timestamptz,                          -- NULL: nobody has looked
    seen_by            text,

    CONSTRAINT notices_kind_check CHECK (kind IN ('complaint', 'bounce_rate', 'complaint_rate', 'unsubscribed_topic')),
    CONSTRAINT notices_seen_check CHECK ((seen_at IS NULL) = (seen_by IS NULL))
);
CREATE UNIQUE INDEX notices_complaint_key ON mailqueue.notices (email_id) WHERE kind = 'complaint';
CREATE INDEX notices_project_idx ON mailqueue.notices (project_id, id);
CREATE INDEX notices_unseen_idx ON mailqueue.notices (project_id, kind) WHERE seen_at IS NULL;
COMMENT ON TABLE mailqueue.notices IS
    'What the administrators of a project should know of: mail somebody complained about, accounts whose rates are too high.';
