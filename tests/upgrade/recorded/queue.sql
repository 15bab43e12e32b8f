-- Worker processes, their heartbeat, and who wants to be woken. Claiming is in the file of each queue.

-- name: start_worker :value
-- Register a worker process; its id is never reused.
SELECT mailqueue.start_worker(%(kind)s, %(host)s, %(pid)s, %(version)s, %(launch_id)s);

-- name: beat :one
-- Heartbeat of a worker; is_known is false if it was declared lost and must not write any more. The commit need not be
-- on disk. What the worker has seen of this database is compared with it: see see_server().
SELECT h.is_known, h.seen, h.refusal
FROM (SELECT set_config('synchronous_commit', 'off', true)) AS s,
     mailqueue.heartbeat(%(worker)s, %(is_stopping)s, %(launch_id)s, %(seen)s, %(marks)s) AS h;

-- name: stop_worker :run
-- Leave in good order; what the worker still holds goes back.
SELECT mailqueue.stop_worker(%(worker)s);

-- name: rescue_emails :value
-- Give back the mail of silent workers, and of one launch known to be dead; says how many mails.
SELECT mailqueue.rescue_emails(%(silence)s, %(launch_id)s);

-- name: park_worker :run
-- Ask to be rung when mail comes; asking twice is asking once.
INSERT INTO mailqueue.waiters (queue, worker_id)
VALUES (%(queue)s, %(worker)s)
ON CONFLICT ON CONSTRAINT waiters_pkey DO UPDATE SET parked_at = clock_timestamp();

-- name: unpark_worker :run
-- No longer ask to be rung.
DELETE FROM mailqueue.waiters WHERE queue = %(queue)s AND worker_id = %(worker)s;
