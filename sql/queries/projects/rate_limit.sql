-- Requests to the API: their windows, and stored answers of idempotency keys.

-- name: lease_requests :one
-- Take up to that many requests of a window; 0 if there are none.
SELECT l.granted, l.free, l.slot, l.wait
FROM mailqueue.lease_window(%(bucket)s, %(capacity)s, %(per_second)s, %(lease)s, %(count)s, %(wanted)s, %(slot)s,
                            %(returned)s) AS l;

-- name: sweep_request_buckets :run
-- Delete buckets that have long been full again.
DELETE FROM mailqueue.request_buckets AS b
WHERE b.filled_at < clock_timestamp() - interval '1 day';

-- name: claim_answer :maybe
-- Take an idempotency key for a request: no row if it is taken and its 24 hours are not over. A concurrent request
-- waits until the first one ends. False if a mail was accepted under the key.
INSERT INTO mailqueue.idempotent_answers AS a (project_id, key, fingerprint)
VALUES (%(project_id)s, %(key)s, %(fingerprint)s)
ON CONFLICT (project_id, key) DO UPDATE
   SET fingerprint = excluded.fingerprint, status = NULL, content_type = NULL, body = NULL,
       created_at = clock_timestamp()
 WHERE a.created_at < clock_timestamp() - interval '24 h'
RETURNING CASE WHEN %(request_key)s::text IS NULL THEN true
               ELSE mailqueue.take_request_key(%(project_id)s, %(request_key)s, %(is_test)s) END;

-- name: read_answer :maybe
-- The answer stored for an idempotency key.
SELECT a.fingerprint, a.status, a.content_type, a.body, clock_timestamp() - a.created_at AS age
FROM mailqueue.idempotent_answers AS a
WHERE a.project_id = %(project_id)s
  AND a.key = %(key)s;

-- name: keep_answer :run
-- Store the answer of an idempotency key.
UPDATE mailqueue.idempotent_answers AS a
SET status = %(status)s, content_type = %(content_type)s, body = %(body)s
WHERE a.project_id = %(project_id)s
  AND a.key = %(key)s;

-- name: give_back_answer :run
-- Release an idempotency key: the request changed nothing.
WITH released AS (
    DELETE FROM mailqueue.idempotent_answers AS a
    WHERE a.project_id = %(project_id)s
      AND a.key = %(key)s
      AND a.status IS NULL
    RETURNING a.project_id
)
SELECT mailqueue.release_request_key(r.project_id, %(request_key)s, %(is_test)s)
FROM released AS r
WHERE %(request_key)s::text IS NOT NULL;

-- name: wait_for_locks :run
-- Set the lock timeout until the transaction ends or it is set again.
SELECT set_config('lock_timeout', %(wait)s, true);

-- name: sweep_answers :run
-- Delete answers whose 24 hours are over.
DELETE FROM mailqueue.idempotent_answers AS a
WHERE a.created_at < clock_timestamp() - interval '24 h';
