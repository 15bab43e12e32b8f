-- What waits, since when, and what holds it up? Most urgent first.
SELECT d.project, d.priority, d.route, d.kept_apart, d.due, d.pending, d.assigned, d.held,
       date_trunc('second', now() - d.oldest_due_at) AS oldest, d.blocked_reason, d.blocked_until
FROM mailqueue.queue_depth AS d
ORDER BY d.priority, d.oldest_due_at NULLS LAST, d.project;
