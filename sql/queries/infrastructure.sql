-- What administrators see of tables, disks and maintenance.

-- name: list_partition_board :many
-- Monthly tables, oldest first.
SELECT b.table_name, b.name, b.month, b.state, b.rows_estimate, b.bytes, b.leaves_from, b.dropped_from, b.is_archived
FROM mailqueue.partition_board() AS b;

-- name: read_disk_board :one
-- Size of the database, and its limit.
SELECT b.database_bytes, b.size_limit_bytes
FROM mailqueue.disk_board() AS b;

-- name: list_space_board :many
-- Free space of the folders of PostgreSQL.
SELECT b.host, b.place, b.free_bytes, b.total_bytes, b.reported_at
FROM mailqueue.space_board() AS b;

-- name: list_slot_board :many
-- Replication slots, and the WAL that each keeps.
SELECT b.name, b.is_active, b.kept_bytes, b.wal_status
FROM mailqueue.slot_board() AS b;

-- name: list_table_board :many
-- The largest tables.
SELECT b.name, b.rows_estimate, b.bytes
FROM mailqueue.table_board(%(limit)s) AS b;

-- name: list_task_board :many
-- Maintenance tasks.
SELECT b.task, extract(epoch FROM b.every)::double precision AS every_seconds, b.is_running, b.due_at, b.last_run_at,
       extract(epoch FROM b.last_took)::double precision AS last_seconds, b.last_report, b.last_error, b.is_late
FROM mailqueue.task_board() AS b;

-- name: read_gauges :many
-- Figures for monitoring.
SELECT g.name, g.labels, g.value
FROM mailqueue.gauges() AS g;
