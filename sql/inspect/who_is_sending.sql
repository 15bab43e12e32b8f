-- Which workers are alive, and what do they hold? A silent one is rescued by the next that starts.
SELECT w.id, w.queues, w.host, w.pid, w.status, w.assigned, w.assigned_rows, w.is_parked,
       date_trunc('second', w.silence) AS silence, w.started_at
FROM mailqueue.worker_status AS w
WHERE w.ended_at IS NULL
   OR w.ended_at > now() - interval '1 day'
ORDER BY w.id DESC;
