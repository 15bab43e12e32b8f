-- Services, and the processes that run them.

-- name: keep_services :run
-- Write the heartbeat of the listeners of a process; without any, it has ended.
SELECT mailqueue.keep_services(%(launch_id)s, %(services)s::text[], %(host)s, %(pid)s, %(version)s, %(is_in_up)s);

-- name: list_services :many
-- Each service and how many processes run it.
SELECT b.service, b.command, b.processes, b.hosts, b.since, b.beat_at, b.need
FROM mailqueue.service_board() AS b;
