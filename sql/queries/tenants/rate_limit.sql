-- What the API keeps of requests: how many may come, and what was answered under a key.

-- name: lease_requests :one
-- Take up to so many requests out of a bucket; 0 where there is none.
SELECT l.granted, l.tokens
FROM mailqueue.lease_requests(%(bucket)s, %(capacity)s, %(per_second)s, %(wanted)s, %(returned)s) AS l;

-- name: sweep_request_buckets :run
-- Forget buckets that have long been full again.
DELETE FROM mailqueue.request_buckets AS b
WHERE b.filled_at < clock_timestamp() - interval '1 day';

-- name: claim_answer :maybe
-- Take a key for a request: no row where somebody has it and its 24 hours are not over. Whoever takes it
-- at the same moment waits until the first is through.
INSERT INTO mailqueue.idempotent_answers AS a (project_id, key, fingerprint)
VALUES (%(project_id)s, %(key)s, %(fingerprint)s)
ON CONFLICT (project_id, key) DO UPDATE
   SET fingerprint = excluded.fingerprint, status = NULL, content_type = NULL, body = NULL,
       created_at = clock_timestamp()
 WHERE a.created_at < clock_timestamp() - interval '24 h'
RETURNING a.key;

-- name: read_answer :maybe
-- What was answered under a key.
SELECT a.fingerprint, a.status, a.content_type, a.body, clock_timestamp() - a.created_at AS age
FROM mailqueue.idempotent_answers AS a
WHERE a.project_id = %(project_id)s
  AND a.key = %(key)s;

-- name: keep_answer :run
-- Keep what is answered under a key.
UPDATE mailqueue.idempotent_answers AS a
SET status = %(status)s, content_type = %(content_type)s, body = %(body)s
WHERE a.project_id = %(project_id)s
  AND a.key = %(key)s;

-- name: give_back_answer :run
-- Leave a key to others: nothing was done under it.
DELETE FROM mailqueue.idempotent_answers AS a
WHERE a.project_id = %(project_id)s
  AND a.key = %(key)s
  AND a.status IS NULL;

-- name: wait_for_locks :run
-- Bound how long statements wait for locks, until the transaction ends or it is said anew.
SELECT set_config('lock_timeout', %(wait)s, true);

-- name: sweep_answers :run
-- Forget answers whose 24 hours are over.
DELETE FROM mailqueue.idempotent_answers AS a
WHERE a.created_at < clock_timestamp() - interval '24 h';
