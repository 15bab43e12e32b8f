-- 0422_subscriptions_from_a_number.sql
-- Adds:    outbox_state.subscribed_after, webhooks.subscribed_after, consumers.skipped
-- Running workers: not affected; of outboxes and webhooks as they are, every event of the stream is published
-- Locks:   brief, on webhooks, outbox_state and consumers

ALTER TABLE mailqueue.outbox_state ADD COLUMN subscribed_after jsonb NOT NULL DEFAULT '{}';
ALTER TABLE mailqueue.webhooks ADD COLUMN subscribed_after jsonb NOT NULL DEFAULT '{}';
ALTER TABLE mailqueue.consumers ADD COLUMN skipped bigint NOT NULL DEFAULT 0;
