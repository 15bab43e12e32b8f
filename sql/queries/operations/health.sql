-- Checks of the installation, and disk space.

-- name: read_health :many
-- Every check that SQL can make: its state, its result, and the fix if one is needed.
SELECT h.name, h.state, h.found, h.fix
FROM mailqueue.health AS h;

-- name: find_data_directory :one
-- Server process of this session and data directory; NULL without the right to see them.
SELECT pg_backend_pid() AS pid,
       CASE WHEN pg_has_role('pg_read_all_settings', 'USAGE') THEN current_setting('data_directory') END AS folder;

-- name: report_space :one
-- Report free space of the server's disks; returns the bounds of refusing mail.
SELECT r.refuse_below, r.accept_above, r.is_refused
FROM mailqueue.report_space(%(host)s, %(places)s, %(free)s::bigint[], %(total)s::bigint[]) AS r;

-- name: may_tell_health :value
-- Whether this login may report space and store the result of comparing the books.
SELECT has_function_privilege('mailqueue.report_space(text, text[], bigint[], bigint[])', 'EXECUTE')
   AND has_function_privilege('mailqueue.note_books(text[])', 'EXECUTE');

-- name: note_books :run
-- Store the result of comparing the books.
SELECT mailqueue.note_books(%(faults)s);

-- name: estimate_email_count :value
-- Estimated number of mails, from statistics.
SELECT mailqueue.rows_of('mailqueue.email_queue') + mailqueue.rows_of('mailqueue.email_history');

-- name: may_read_retention :value
-- Whether this login may look through the tables that have a retention.
SELECT has_function_privilege('mailqueue.kinds_past_retention(integer, integer)', 'EXECUTE');

-- name: list_kinds_past_retention :many
-- Kinds with rows that are older than their retention by some days, and the oldest seen; reads so many pages of each.
SELECT k.kind, k.table_name, k.oldest FROM mailqueue.kinds_past_retention(%(days)s, %(pages)s) AS k;

-- name: read_report_source :one
-- The server that reports come from: its first project, and the time up to which its counts are complete.
SELECT (SELECT p.id FROM mailqueue.projects AS p ORDER BY p.created_at, p.id LIMIT 1) AS first_project, s.as_of
FROM mailqueue.stats_progress() AS s;
