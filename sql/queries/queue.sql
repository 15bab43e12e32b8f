-- Worker processes, their heartbeat and wake-up. Claiming is in the file of each queue.

-- name: start_worker :value
-- Register a worker process; its id is never reused.
SELECT mailqueue.start_worker(%(kind)s, %(host)s, %(pid)s, %(version)s, %(launch_id)s, %(queues)s::text[]);

-- name: count_registered :value
-- How many of these starts of processes have registered a worker.
SELECT count(DISTINCT w.launch_id)
FROM mailqueue.workers AS w
WHERE w.launch_id = ANY (%(launch_ids)s);

-- name: beat :one
-- Heartbeat of a worker; is_known is false if it was declared lost and must not write any more. The commit need not be
-- on disk. What the worker has seen of this database is compared with it: see see_server().
SELECT h.is_known, h.seen, h.refusal
FROM (SELECT set_config('synchronous_commit', 'off', true)) AS s,
     mailqueue.heartbeat(%(worker)s, %(is_stopping)s, %(launch_id)s, %(seen)s, %(marks)s) AS h;

-- name: see_server :one
-- Compare what a process has seen with this database; what it has seen now, and why no mail is sent.
SELECT h.seen, h.refusal
FROM (SELECT set_config('synchronous_commit', 'off', true)) AS s, mailqueue.see_server(%(seen)s) AS h;

-- name: stop_worker :run
-- Deregister a worker; mail that it holds returns to the queue.
SELECT mailqueue.stop_worker(%(worker)s);

-- name: rescue_emails :value
-- Return mail of workers without a heartbeat, and of one launch known to be dead; the number of mails.
SELECT mailqueue.rescue_emails(%(silence)s, %(launch_id)s);

-- name: watch_rates :value
-- Pause sender accounts with too many bounces or complaints; the number paused.
SELECT mailqueue.watch_rates();

-- name: send_notices :value
-- Mail new notices for administrators and queue them for webhooks; the number of causes that were told.
SELECT mailqueue.send_notices();

-- name: note_sender_use :value
-- Write into sender accounts when they were last used; the number of accounts.
SELECT mailqueue.note_sender_use();

-- name: park_worker :run
-- Request a NOTIFY when there is mail; idempotent.
INSERT INTO mailqueue.waiters (queue, worker_id)
VALUES (%(queue)s, %(worker)s)
ON CONFLICT ON CONSTRAINT waiters_pkey DO UPDATE SET parked_at = clock_timestamp();

-- name: unpark_worker :run
-- Cancel the request for a NOTIFY.
DELETE FROM mailqueue.waiters WHERE queue = %(queue)s AND worker_id = %(worker)s;

-- name: claim_rows :many
-- Take due rows of a queue table for a worker.
SELECT {columns}
FROM {claim}(%(worker)s, %(limit)s, %(lease)s, %(alone)s, %(first)s, %(keys)s::text[], %(rooms)s::integer[]) AS q;

-- name: isolate_claim :run
-- In this transaction a claim of a table tries its rows in smaller parts, and leaves out those whose change is refused.
SELECT set_config('mailqueue.isolates_claims', %(table_name)s, true);

-- name: settle_rows :many
-- Write the outcomes of claimed rows; returns those whose claim no longer holds.
SELECT s.id
FROM {settle}(%(ids)s::uuid[], %(claims)s::bigint[], %(outcomes)s::text[], %(statuses)s::text[],
              %(waits)s::interval[], %(runs)s::timestamptz[], %(reasons)s::text[], %(values)s::jsonb) AS s(id);

-- name: renew_rows :value
-- Extend the leases of claimed rows; returns how many claims still hold.
SELECT {renew}(%(ids)s::uuid[], %(claims)s::bigint[], %(lease)s);

-- name: release_rows :value
-- Return the rows of a worker besides those that it holds; returns how many.
SELECT {release}(%(worker)s, %(held)s::uuid[]);

-- name: suspect_rows :value
-- Count a death of their worker on rows whose handling had begun; returns how many claims still held.
SELECT {suspect}(%(ids)s::uuid[], %(claims)s::bigint[], %(alone)s, %(reason)s);

-- name: suspect_emails :value
-- Count a death of their worker on mails whose handling had begun; returns how many claims still held.
SELECT mailqueue.suspect_emails(%(ids)s::uuid[], %(claims)s::bigint[], %(alone)s, %(reason)s);

-- name: requeue_rows :value
-- Queue rows again that failed, were cancelled or are held; returns how many.
SELECT {requeue}(%(project)s, %(ids)s::uuid[], %(by)s);

-- name: suspected_queues :many
-- Those of the queues that have due rows whose worker stopped before.
SELECT s.queue
FROM mailqueue.suspected_queues(%(queues)s::text[]) AS s(queue);

-- name: unattended_queues :many
-- Those of the queues that have due rows and no running worker.
SELECT u.queue FROM mailqueue.unattended_queues(%(queues)s::text[]) AS u(queue);
