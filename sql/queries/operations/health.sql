-- Whether everything is well, and how much room there is.

-- name: read_health :many
-- Every check that SQL can make: its state, what was found, and the fix where one is needed.
SELECT h.name, h.state, h.found, h.fix
FROM mailqueue.health AS h;

-- name: find_data_directory :one
-- Which process of the server we talk to, and where its data lies; NULL where we may not know.
SELECT pg_backend_pid() AS pid,
       CASE WHEN pg_has_role('pg_read_all_settings', 'USAGE') THEN current_setting('data_directory') END AS folder;

-- name: report_space :one
-- Say how much room the server's disks have; returns the bounds of refusing mail.
SELECT r.refuse_below, r.accept_above, r.is_refused
FROM mailqueue.report_space(%(host)s, %(places)s, %(free)s::bigint[], %(total)s::bigint[]) AS r;

-- name: may_tell_health :value
-- Whether we may report room and keep what comparing the books found.
SELECT has_function_privilege('mailqueue.report_space(text, text[], bigint[], bigint[])', 'EXECUTE')
   AND has_function_privilege('mailqueue.note_books(text[])', 'EXECUTE');

-- name: note_books :run
-- Keep what comparing the books found.
SELECT mailqueue.note_books(%(faults)s);

-- name: count_emails_roughly :value
-- About how many mails there are, as statistics know.
SELECT mailqueue.rows_of('mailqueue.email_queue') + mailqueue.rows_of('mailqueue.email_history');
