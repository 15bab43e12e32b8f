-- Worker processes, their heartbeat and wake-up. Claiming is in the file of each queue.

-- name: start_worker :value
-- Register a worker process; its id is never reused.
SELECT mailqueue.start_worker(%(kind)s, %(host)s, %(pid)s, %(version)s, %(launch_id)s);

-- name: beat :value
-- Heartbeat of a worker; false if it was declared lost and must not write any more. The commit need not be on disk.
SELECT mailqueue.beat(%(worker)s, %(is_stopping)s)
FROM (SELECT set_config('synchronous_commit', 'off', true)) AS s;

-- name: stop_worker :run
-- Deregister a worker; mail that it holds returns to the queue.
SELECT mailqueue.stop_worker(%(worker)s);

-- name: rescue_emails :value
-- Return mail of workers without a heartbeat, and of one launch known to be dead; the number of mails.
SELECT mailqueue.rescue_emails(%(silence)s, %(launch_id)s);

-- name: watch_rates :value
-- Pause sender accounts with too many bounces or complaints; the number paused.
SELECT mailqueue.watch_rates();

-- name: park_worker :run
-- Request a NOTIFY when there is mail; idempotent.
INSERT INTO mailqueue.waiters (queue, worker_id)
VALUES (%(queue)s, %(worker)s)
ON CONFLICT ON CONSTRAINT waiters_pkey DO UPDATE SET parked_at = clock_timestamp();

-- name: unpark_worker :run
-- Cancel the request for a NOTIFY.
DELETE FROM mailqueue.waiters WHERE queue = %(queue)s AND worker_id = %(worker)s;
