-- 0424_former_names.sql
-- Drops:   columns, functions, a view and settings by their former names; functions whose columns change
-- Running workers: restart those of earlier versions before; views are missing until the functions are applied
-- Locks:   email_contents, inline_servers, webhooks, webhook_deliveries, channel_providers, refusals for a moment
-- squawk-ignore-file ban-drop-function, ban-drop-column, ban-drop-view

DROP VIEW mailqueue.dressing_gaps;
DROP VIEW IF EXISTS mailqueue.emails CASCADE;
DROP VIEW IF EXISTS mailqueue.webhook_status CASCADE;

UPDATE mailqueue.email_contents SET tracking_options = dressing WHERE tracking_options IS NULL AND dressing IS NOT NULL;
ALTER TABLE mailqueue.email_contents DROP COLUMN dressing;

UPDATE mailqueue.inline_servers SET run_at = coalesce(look_at, now()) WHERE run_at IS NULL;
ALTER TABLE mailqueue.inline_servers
    DROP COLUMN look_at,
    -- squawk-ignore adding-not-nullable-field
    ALTER COLUMN run_at SET NOT NULL;

DROP TRIGGER refusals_message ON mailqueue.refusals;
DROP FUNCTION mailqueue.refusals_message();
ALTER TABLE mailqueue.refusals DROP COLUMN told;

DELETE FROM mailqueue.system_settings
 WHERE name IN ('attachment_bytes_most', 'attachment_types_most', 'rates_sent_least');

ALTER TABLE mailqueue.webhooks
    DROP COLUMN failures,
    DROP COLUMN failing_since,
    DROP COLUMN circuit_opened_at,
    DROP COLUMN openings,
    DROP COLUMN blocked_until,
    DROP COLUMN probing_until;
ALTER TABLE mailqueue.webhook_deliveries DROP COLUMN claimed_by;
ALTER TABLE mailqueue.channel_providers
    DROP COLUMN failures,
    DROP COLUMN blocked_until;

DROP FUNCTION IF EXISTS mailqueue.claim_inbound(integer, interval);
DROP FUNCTION IF EXISTS mailqueue.hold_inbound(uuid[], bigint[]);
DROP FUNCTION IF EXISTS mailqueue.settle_inbound(uuid[], bigint[], text[], interval[], jsonb[], jsonb[], text[]);
DROP FUNCTION IF EXISTS mailqueue.beat(integer, boolean);
DROP FUNCTION IF EXISTS mailqueue.claim_webhook_deliveries(text, integer, interval, integer, uuid[], integer[]);
DROP FUNCTION IF EXISTS mailqueue.settle_webhook_deliveries(uuid[], bigint[], text[], integer[], text[], interval[],
    boolean[], timestamptz[], integer[], jsonb[], text[]);
DROP FUNCTION IF EXISTS mailqueue.claim_inline(text, integer, text, integer);
DROP FUNCTION IF EXISTS mailqueue.lease_requests(uuid, double precision, double precision, double precision,
    double precision);
DROP FUNCTION IF EXISTS mailqueue.letter_of(uuid, uuid);
DROP FUNCTION IF EXISTS mailqueue.note_dressing_gaps(uuid[], text[], bigint[]);
DROP FUNCTION IF EXISTS mailqueue.renamed_setting(text);
DROP FUNCTION IF EXISTS mailqueue.begin_inline(text, jsonb, text, integer, text);
DROP FUNCTION IF EXISTS mailqueue.publish_mail_events(mailqueue.webhook_events[]);
DROP FUNCTION IF EXISTS mailqueue.queue_tables();
DROP FUNCTION IF EXISTS mailqueue.webhook_rest(integer);
DROP FUNCTION IF EXISTS mailqueue.tell_webhooks(uuid[], uuid[], text[], uuid[], timestamptz[], json[], json[]);
DROP FUNCTION IF EXISTS mailqueue.tell_webhooks(uuid[], uuid[], text[], uuid[], timestamptz[], json[]);
DROP FUNCTION IF EXISTS mailqueue.webhook_payload(text, timestamptz, uuid, uuid, uuid, json, json);
DROP FUNCTION IF EXISTS mailqueue.webhook_payload(text, timestamptz, uuid, uuid, text, uuid, text, integer, text, text,
    text[], text, text, text, text, text, text, jsonb);
DROP FUNCTION IF EXISTS mailqueue.webhook_payload(text, timestamptz, uuid, uuid, text, uuid, text, integer, text, text,
    text[], text, text, text, text, text, text, jsonb, boolean);
DROP FUNCTION IF EXISTS mailqueue.webhook_mail(uuid);
DROP FUNCTION IF EXISTS mailqueue.enqueue_webhook_events(mailqueue.webhook_events[]);
