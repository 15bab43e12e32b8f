-- Exports of a project's data to files.

-- name: begin_export :value
-- Begin an export; its id.
SELECT mailqueue.begin_export(%(project_id)s::uuid, %(kind)s::text, %(format)s::text, %(filter)s::jsonb,
                              %(since)s::timestamptz, %(until)s::timestamptz, %(is_test)s::boolean,
                              %(max_unfinished)s::integer, %(max_bytes)s::bigint, %(by)s::text);

-- name: delete_export :value
-- Delete the file of an export; false if it is gone already.
SELECT mailqueue.delete_export(%(project_id)s::uuid, %(id)s::uuid, %(by)s::text);

-- name: list_exports :many
-- Exports of a project or of all, newest first.
SELECT x.id, p.name AS project, x.kind, x.format, x.filter, nullif(x.since, '-infinity') AS since, x.until, x.is_test,
       CASE WHEN x.gone_reason IS NOT NULL THEN x.gone_reason
            WHEN x.status = 'done' AND NOT mailqueue.is_export_there(x) THEN 'expired'
            WHEN x.status IN ('done', 'failed') THEN x.status
            WHEN x.place IS NOT NULL THEN 'running'
            ELSE 'waiting' END AS state,
       x.rows, x.rows_estimated, x.bytes, x.requested_by, x.last_error AS error, x.created_at, x.finished_at,
       CASE WHEN x.status = 'done' THEN least(x.finished_at, '9000-01-01') + interval '7 days' END AS expires_at
FROM mailqueue.exports AS x
JOIN mailqueue.projects AS p ON p.id = x.project_id
WHERE (%(project_id)s::uuid IS NULL OR x.project_id = %(project_id)s::uuid)
  AND (%(before)s::uuid IS NULL OR x.id < %(before)s::uuid)
  AND (mailqueue.mode() IS NULL OR x.is_test = mailqueue.mode())
ORDER BY x.id DESC
LIMIT %(limit)s::integer;

-- name: find_export :maybe
-- One export, of a project if one is given.
SELECT x.id, p.name AS project, x.kind, x.format, x.filter, nullif(x.since, '-infinity') AS since, x.until, x.is_test,
       CASE WHEN x.gone_reason IS NOT NULL THEN x.gone_reason
            WHEN x.status = 'done' AND NOT mailqueue.is_export_there(x) THEN 'expired'
            WHEN x.status IN ('done', 'failed') THEN x.status
            WHEN x.place IS NOT NULL THEN 'running'
            ELSE 'waiting' END AS state,
       x.rows, x.rows_estimated, x.bytes, x.requested_by, x.last_error AS error, x.created_at, x.finished_at,
       CASE WHEN x.status = 'done' THEN least(x.finished_at, '9000-01-01') + interval '7 days' END AS expires_at
FROM mailqueue.exports AS x
JOIN mailqueue.projects AS p ON p.id = x.project_id
WHERE x.id = %(id)s::uuid AND (%(project_id)s::uuid IS NULL OR x.project_id = %(project_id)s::uuid)
  AND (mailqueue.mode() IS NULL OR x.is_test = mailqueue.mode());

-- name: offers_data :value
-- Whether the recipient of an email may ask for what is stored about them.
SELECT mailqueue.offers_data(%(project_id)s::uuid, %(email_id)s::uuid);

-- name: ask_for_data :value
-- Let workers collect what is stored about a recipient, and send the link: sent, again, stopped or none.
SELECT mailqueue.ask_for_data(%(project_id)s::uuid, %(email_id)s::uuid, %(recipient)s::integer, %(language)s::text);

-- name: find_export_of_email :maybe
-- Id of the export that the link of an email leads to.
SELECT x.id FROM mailqueue.exports AS x WHERE x.email_id = %(email_id)s::uuid AND x.project_id = %(project_id)s::uuid;

-- name: read_export_page :one
-- The next page of an export, which stays locked; its state.
SELECT p.state, p.kind, p.format, p.place, p.lines
FROM mailqueue.read_export_page(%(id)s::uuid, %(claim_no)s::bigint, %(limit)s::integer, %(max_bytes)s::bigint) AS p;

-- name: write_export_part :run
-- Store a part of an export and the place up to which it goes.
SELECT mailqueue.write_export_part(%(id)s::uuid, %(place)s::jsonb, %(rows)s::integer, %(bytes)s::bigint,
                                   %(data)s::bytea);

-- name: end_export :run
-- Write the end of an export to the audit log.
SELECT mailqueue.end_export(%(id)s::uuid, %(state)s::text, %(error)s::text);

-- name: read_export_part :maybe
-- A part of the file of an export, compressed.
SELECT mailqueue.read_export_part(%(project_id)s::uuid, %(id)s::uuid, %(number)s::integer) AS data;

-- name: note_export_fetched :run
-- Record that the file of an export was fetched.
SELECT mailqueue.note_export_fetched(%(project_id)s::uuid, %(id)s::uuid, %(by)s::text);
