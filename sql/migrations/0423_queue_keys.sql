-- 0423_queue_keys.sql
-- Adds:    queue_keys, circuits of keys of queues; moves those of webhooks and of providers of channels to it
-- Running workers: of the release before count failures in it too, by the functions that settle for them
-- Locks:   rows of webhooks whose last request failed

CREATE TABLE mailqueue.queue_keys (
    queue          text        NOT NULL,                     -- name in QUEUES
    key            text        NOT NULL,                     -- of webhooks the id, of notifications the provider
    failures       integer     NOT NULL DEFAULT 0,           -- in a row
    failing_since  timestamptz,                              -- first of these failures; NULL: none
    opened_at      timestamptz,                              -- NULL: closed; else one row at a time probes it
    openings       integer     NOT NULL DEFAULT 0,           -- times in a row that it opened or stayed open
    blocked_until  timestamptz,                              -- no row is claimed before
    probing_until  timestamptz,                              -- a probe is under way; no other begins before
    last_error     text,                                     -- reason of the last failure; NULL: not known

    CONSTRAINT queue_keys_pkey PRIMARY KEY (queue, key),
    CONSTRAINT queue_keys_counts_check CHECK (failures >= 0 AND openings >= 0),
    CONSTRAINT queue_keys_error_check CHECK (length(last_error) <= 1000),
    CONSTRAINT queue_keys_times_check CHECK (
        isfinite(coalesce(failing_since, 'epoch')) AND isfinite(coalesce(opened_at, 'epoch'))
        AND isfinite(coalesce(blocked_until, 'epoch')) AND isfinite(coalesce(probing_until, 'epoch')))
) WITH (fillfactor = 50);
COMMENT ON TABLE mailqueue.queue_keys IS
    'Keys of queues that are in trouble: failures in a row, circuit, pause. A key without a row is well.';

INSERT INTO mailqueue.queue_keys (queue, key, failures, failing_since, opened_at, openings, blocked_until, probing_until)
SELECT 'webhooks', w.id::text, w.failures, w.failing_since, w.circuit_opened_at, w.openings, w.blocked_until,
       w.probing_until
  FROM mailqueue.webhooks AS w
 WHERE w.removed_at IS NULL AND (w.failures > 0 OR w.circuit_opened_at IS NOT NULL OR w.blocked_until > now());
UPDATE mailqueue.webhooks AS w
   SET failures = 0, failing_since = NULL, circuit_opened_at = NULL, openings = 0, blocked_until = NULL,
       probing_until = NULL
 WHERE w.failures > 0 OR w.circuit_opened_at IS NOT NULL OR w.blocked_until IS NOT NULL OR w.probing_until IS NOT NULL;

INSERT INTO mailqueue.queue_keys (queue, key, failures, failing_since, opened_at, openings, blocked_until)
SELECT 'notifications', p.name, p.failures, now(), CASE WHEN p.blocked_until IS NOT NULL THEN now() END,
       CASE WHEN p.blocked_until IS NOT NULL THEN greatest(p.failures - 4, 1) ELSE 0 END, p.blocked_until
  FROM mailqueue.channel_providers AS p WHERE p.failures > 0 OR p.blocked_until > now();
UPDATE mailqueue.channel_providers AS p SET failures = 0, blocked_until = NULL WHERE p.failures > 0 OR p.blocked_until > now();
